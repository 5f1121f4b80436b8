// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Which photos were sent, and which of those the user was told of.
///
/// A file in the plugin's own folder, because the spool folder is only read. It is replaced in one
/// step at each change, so a run that is killed leaves it whole.
struct Ledger {
    private struct Entry: Codable {
        var version: String
        var isAnnounced = false
    }

    private let file: URL
    /// By the name of the photo.
    private var entries: [String: Entry] = [:]

    /// Reads the ledger of a folder; without one, nothing was sent.
    init(in folder: URL) throws {
        file = folder.appending(path: "sent.json")
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        entries = try JSONDecoder().decode([String: Entry].self, from: Data(contentsOf: file))
    }

    /// The photos that the user has still to be told of, in the order of their names.
    var unannounced: [(name: String, version: String)] {
        entries.filter { !$0.value.isAnnounced }.map { ($0.key, $0.value.version) }
            .sorted { $0.0 < $1.0 }
    }

    func contains(_ photo: Photo) -> Bool { entries[photo.name]?.version == photo.version }

    mutating func add(_ photo: Photo) throws {
        entries[photo.name] = Entry(version: photo.version)
        try save()
    }

    mutating func announced(_ photos: [(name: String, version: String)]) throws {
        for photo in photos { entries[photo.name]?.isAnnounced = true }
        try save()
    }

    /// Forgets photos that are not in the spool folder any more.
    mutating func keep(_ photos: [Photo]) {
        let names = Set(photos.map(\.name))
        entries = entries.filter { names.contains($0.key) || !$0.value.isAnnounced }
    }

    private func save() throws {
        try JSONEncoder().encode(entries).write(to: file, options: .atomic)
    }
}
