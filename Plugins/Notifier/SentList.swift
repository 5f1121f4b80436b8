// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Which sinks have a notification already, kept over failed runs.
struct SentList {
    /// `nil` for a notification that nothing names: its repetitions cannot be told.
    private let file: URL?
    private var names: [String] = []

    init(_ key: String?, in folder: URL) throws {
        guard let key, !key.isEmpty else {
            file = nil
            return
        }
        // The key may be anything that a task was given: a file's name has only these.
        let plain = key.utf8.prefix(100).map { byte in
            String(UInt16(byte) + 256, radix: 16).dropFirst()
        }.joined()
        let file = folder.appending(path: "sent-\(plain)")
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let data = try Data(contentsOf: file)
        names = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func contains(_ name: String) -> Bool { names.contains(name) }

    mutating func add(_ name: String) throws {
        names.append(name)
        guard let file else { return }
        try Data(names.joined(separator: "\n").utf8).write(to: file, options: .atomic)
    }

    /// Forgets them, once all have it.
    func remove() {
        guard let file else { return }
        // A list that stays is of a notification that does not come again.
        try? FileManager.default.removeItem(at: file)
    }
}
