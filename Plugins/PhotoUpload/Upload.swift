// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import FoundationEssentials

/// One photo on its way, in a background session: it needs no run to go on.
struct Upload {
    static let session = "photos"

    private let photo: Photo
    private let request: URLRequest
    private let isResumable: Bool

    init(_ photo: Photo, _ settings: Settings) throws {
        guard let server = URL(string: settings.server) else {
            throw UploadError(description: "`server` is not a URL: \(settings.server)")
        }
        self.photo = photo
        isResumable = settings.tus ?? false
        var request = URLRequest(url: isResumable ? server : server.appending(path: photo.name))
        request.httpMethod = "PUT"
        request.setValue(photo.mediaType, forHTTPHeaderField: "Content-Type")
        // The server takes the photo only if it is the same to the last bit.
        let digest = try photo.checksum().base64EncodedString()
        request.setValue("sha-256=:\(digest):", forHTTPHeaderField: "Repr-Digest")
        if isResumable {
            let name = Data(photo.name.utf8).base64EncodedString()
            request.setValue("filename \(name)", forHTTPHeaderField: "Upload-Metadata")
        }
        self.request = request
    }

    /// Begins it, or finds it under way or ended, and waits for its end.
    func end() async throws {
        let configuration = URLSessionConfiguration.background(withIdentifier: Self.session)
        configuration.sessionSendsLaunchEvents = true
        configuration.resumesUploads = isResumable
        let session = URLSession(configuration: configuration)
        let (body, response) = try await session.upload(for: request, fromFile: photo.url)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200...299).contains(status) else {
            let reason = String(decoding: body.prefix(200), as: UTF8.self)
            throw UploadError(description: "the server answers with status \(status) \(reason)")
        }
    }
}

struct UploadError: Error, CustomStringConvertible {
    let description: String
}
