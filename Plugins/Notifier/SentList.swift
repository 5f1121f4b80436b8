// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Which sinks have a notification already, kept over failed runs.
///
/// A list that cannot be read or written fails no delivery, because each attempt would fail for as long as that
/// lasts. A sink may get the notification once more then, with the same key.
struct SentList {
    /// `nil` for a notification that nothing names: its repetitions cannot be told.
    private let file: URL?
    private var names: [String] = []
    private let warn: (String) -> Void

    /// - Parameter warn: gets a sentence if the list cannot be read or written.
    init(_ key: String?, in folder: URL, warn: @escaping (String) -> Void) {
        self.warn = warn
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
        do {
            let data = try Data(contentsOf: file)
            names = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        } catch {
            warn("the list of the sinks that have it cannot be read, so all get it: \(error)")
            // The next attempt reads what this one writes; where it cannot be removed, that one warns again.
            try? FileManager.default.removeItem(at: file)
        }
    }

    func contains(_ name: String) -> Bool { names.contains(name) }

    mutating func add(_ name: String) {
        names.append(name)
        guard let file else { return }
        do {
            try Data(names.joined(separator: "\n").utf8).write(to: file, options: .atomic)
        } catch {
            warn("cannot note that \(name) has it, so another attempt sends it again: \(error)")
        }
    }

    /// Forgets them, once all have it.
    func remove() {
        guard let file else { return }
        // A list that stays is of a notification that does not come again.
        try? FileManager.default.removeItem(at: file)
    }
}
