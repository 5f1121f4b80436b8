// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The photos, files of a folder, and which of them were sent.
enum PhotoLibrary {
    private static let sentKey = "sentPhotos"

    static var folder: URL { URL.documentsDirectory.appending(path: "Photos") }

    /// The photos that were not sent, by name.
    static var waiting: [URL] {
        let sent = Set(UserDefaults.standard.stringArray(forKey: sentKey) ?? [])
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (all ?? []).filter { !sent.contains($0) }.sorted().map { folder.appending(path: $0) }
    }

    static func markSent(_ name: String) {
        let sent = UserDefaults.standard.stringArray(forKey: sentKey) ?? []
        UserDefaults.standard.set(sent + [name], forKey: sentKey)
    }

    static func request(for photo: URL) -> URLRequest? {
        guard let address = UserDefaults.standard.string(forKey: "server"),
            let server = URL(string: address)
        else { return nil }
        var request = URLRequest(url: server.appending(path: photo.lastPathComponent))
        request.httpMethod = "PUT"
        request.setValue("image/jpeg", forHTTPHeaderField: "Content-Type")
        return request
    }
}
