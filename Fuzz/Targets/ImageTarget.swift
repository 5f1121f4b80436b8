// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostModel
import BghostPlugin
import Glibc

extension FuzzTarget {
    /// A file that is said to be a plugin.
    static let image = FuzzTarget("image", bytesMax: 64 << 10) { bytes throws(BrokenProperty) in
        guard let image = try inspect(bytes) else { return }
        try require(Int(image.identity.sizeBytes) == bytes.count, "it has another size")
        for text in image.needed + [image.soname ?? ""] {
            try require(
                text.utf8.allSatisfy { (0x20..<0x7F).contains($0) },
                "a name would steer a terminal: \(text.debugDescription)"
            )
        }
        try require(
            Set(image.concerns).count == image.concerns.count,
            "the same concern is told twice"
        )
        try require(image.extraExports >= 0, "it exports \(image.extraExports) functions more")
        let again = try unwrap(try inspect(bytes), "it is refused the second time")
        // Each time it is another file.
        try require(again.note == image.note, "its note is another one the second time")
        try check(loadable: image)
    }

    /// The text of a note, in a library that is well-formed otherwise.
    static let note = FuzzTarget("note", bytesMax: 8 << 10) { bytes throws(BrokenProperty) in
        let file = NoteCarrier.library(note: bytes)
        guard let image = try inspect(file) else { return }
        let note = try unwrap(image.note, "its note is not found")
        try require(
            note.id.isEmpty || IdentifierPattern.isValid(note.id),
            "its id is \(note.id.debugDescription)"
        )
        try require(
            note.runtime.utf8.allSatisfy { (0x21...0x7E).contains($0) },
            "its runtime is \(note.runtime.debugDescription)"
        )
        // The keys are read byte by byte here, as any other reader of the note would.
        let text = bytes.prefix { $0 != 0 }
        for part in text.split(separator: UInt8(ascii: ";")) {
            for (key, value) in [("id=", note.id), ("runtime=", note.runtime)]
            where part.starts(with: key.utf8) {
                try require(
                    part.dropFirst(key.utf8.count).elementsEqual(value.utf8),
                    "\(key)… is read as \(value.debugDescription)"
                )
            }
        }
        let written =
            "abi=\(note.abiMajor).\(note.abiMinor);"
            + (note.id.isEmpty ? "" : "id=\(note.id);") + "runtime=\(note.runtime)"
        let again = try inspect(NoteCarrier.library(note: Array(written.utf8)))
        try require(again?.note == note, "\(written) is not \(note)")
    }

    private static func inspect(_ bytes: [UInt8]) throws(BrokenProperty) -> PluginImage? {
        guard let file = try? MemoryFile.library() else {
            throw BrokenProperty("there is no memory file to be had")
        }
        defer { close(file) }
        let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        try require(count == bytes.count, "the memory file takes \(count) bytes")
        do throws(ImageError) {
            return try PluginImage.inspect(descriptor: file, path: "fuzz.so")
        } catch {
            try check(error)
            return nil
        }
    }

    private static func check(loadable image: PluginImage) throws(BrokenProperty) {
        do throws(ImageError) {
            _ = try image.requireLoadable()
        } catch {
            try check(error)
        }
    }

    private static func check(_ error: ImageError) throws(BrokenProperty) {
        try MessageText.check(error.description)
        try require(!error.code.isEmpty, "a refusal without a code")
    }
}
