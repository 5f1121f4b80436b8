// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Which photos the server has.
///
/// An empty file for each, in the plugin's own folder: the folder of photos is only read, and two runs
/// that add at the same time do not get into each other's way.
struct SentPhotos {
    private let folder: URL

    init(in dataDirectory: URL) throws {
        folder = dataDirectory.appending(path: "sent", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func contains(_ photo: Photo) -> Bool {
        FileManager.default.fileExists(atPath: mark(photo.fingerprint).path)
    }

    func add(_ photo: Photo) throws {
        try Data().write(to: mark(photo.fingerprint), options: .atomic)
    }

    /// Forgets photos that are not in their folder any more.
    func keep(only photos: [Photo]) throws {
        let wanted = Set(photos.map(\.fingerprint))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where !wanted.contains(name) {
            try FileManager.default.removeItem(at: mark(name))
        }
    }

    private func mark(_ fingerprint: String) -> URL { folder.appending(path: fingerprint) }
}
