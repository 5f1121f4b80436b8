// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostManifest
import BghostModel

extension FuzzTarget {
    /// A manifest and, behind zero bytes, drop-ins.
    static let manifest = FuzzTarget("manifest", bytesMax: 64 << 10) {
        bytes throws(BrokenProperty) in
        let files = bytes.split(separator: 0, maxSplits: 3, omittingEmptySubsequences: false)
            .enumerated().map { ManifestFile(name: "\($0.offset).json", bytes: Array($0.element)) }
        let (manifest, diagnostics) = reader.read(files[0], dropIns: Array(files.dropFirst()))
        let hasErrors = diagnostics.contains { $0.severity == .error }
        try require(
            hasErrors == (manifest == nil),
            hasErrors ? "it is taken in spite of its errors" : "it is refused without a reason"
        )
        for diagnostic in diagnostics { try check(diagnostic, files) }
        let again = reader.read(files[0], dropIns: files.dropFirst().reversed())
        try require(
            again.manifest == manifest && again.diagnostics == diagnostics,
            "the order in which files are handed over matters"
        )
    }

    private static let secret = "Tr0ub4dor"

    private static var reader: ManifestReader {
        ManifestReader(
            manifestDirectory: "/etc/bghost",
            resolveSecret: { reference in
                reference.name.utf8.count % 2 == 0
                    ? .success(secret) : .failure(SecretError("it is not set"))
            },
            zones: ZoneSource(
                find: { name in
                    guard name == "Europe/Berlin" else { throw ZoneError.notAZone }
                    return ZoneTable(name: name, fixedOffset: 3600)
                },
                names: { ["Europe/Berlin", "UTC"] }
            )
        )
    }

    private static func check(
        _ diagnostic: Diagnostic,
        _ files: [ManifestFile]
    ) throws(BrokenProperty) {
        for place in [diagnostic.place] + diagnostic.notes.map(\.place) {
            let file = files.first { $0.name == place.location.file }
            try check(place, try unwrap(file, "it is about \(place.location.file)"))
        }
        // Only a file as a whole, and the last word on a file full of faults, have no place.
        try require(
            diagnostic.location.line > 0 || diagnostic.code == .tooManyProblems,
            "\(diagnostic.code) does not say where"
        )
        let text = diagnostic.rendered(color: false)
        try require(!text.contains(secret), "a secret is told: \(text)")
        for line in text.split(separator: "\n") { try MessageText.check(String(line)) }
        try MessageText.check(diagnostic.message)
    }

    private static func check(
        _ place: Diagnostic.Place,
        _ file: ManifestFile
    ) throws(BrokenProperty) {
        let (location, bytes) = (place.location, file.bytes)
        guard location.line > 0 else { return }
        try require(
            place.span.range.upperBound <= bytes.count,
            "the place \(place.span) lies outside of \(bytes.count) bytes"
        )
        // The long way round to the same line and column.
        let before = bytes[..<place.span.range.lowerBound]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        try require(
            (location.line, location.column) == (line, column),
            "\(location.line):\(location.column) is \(line):\(column)"
        )
    }
}
