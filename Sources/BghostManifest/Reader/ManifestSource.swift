// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A file of the manifest: the main one or a drop-in.
package struct ManifestFile: Sendable {
    /// The name that diagnostics show.
    package var name: String
    package var bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

/// A file that the reader is processing.
struct ManifestSource {
    /// The index of the file; the main file has 0.
    var index: Int
    var text: SourceText
    /// The members at the top level; empty if the file is not a JSON object.
    var members: [JSONMember] = []
    /// The span of the object at the top level.
    var span = ByteSpan(0..<0)
    var isReadable = false

    var isDropIn: Bool { index > 0 }

    /// The maximum size of a file, bytes.
    static let bytesMax = 1 << 20

    /// Parses a file, or reports its errors.
    init(_ file: ManifestFile, index: Int, reportingTo collector: DiagnosticCollector) {
        self.index = index
        // A file that is refused for its size is not scanned for lines either.
        let isTooLarge = file.bytes.count > Self.bytesMax
        text = SourceText(file: file.name, bytes: isTooLarge ? [] : file.bytes)
        guard !isTooLarge else {
            collector.report(
                .fileTooLarge,
                at: ByteSpan(0..<0),
                in: self,
                "the file has \(file.bytes.count) bytes, and 1 MiB is the most",
                help: "split it into drop-ins, tasks.d/*.json beside the main file"
            )
            return
        }
        do throws(JSONError) {
            let root = try JSONReader.parse(
                text.bytes,
                dialect: .commented,
                keepsDuplicateKeys: true
            )
            guard let members = root.object else {
                collector.report(
                    .wrongType,
                    at: root.span,
                    in: self,
                    "the manifest is \(root.typeName)",
                    label: "an object is needed"
                )
                return
            }
            self.members = members
            span = root.span
            isReadable = true
        } catch {
            report(error, to: collector)
        }
    }

    private func report(_ error: JSONError, to collector: DiagnosticCollector) {
        if let format = OtherFormat(of: text.bytes) {
            return collector.report(
                .malformed,
                at: error.span,
                in: self,
                "this looks like \(format.rawValue); bghost reads JSON",
                help: format.help
            )
        }
        let (code, label, help) = Self.advice(on: error)
        var span = error.span
        var notes: [Diagnostic.Note] = []
        if case .unexpectedEnd(let opened) = error.kind {
            // The file usually ends in an empty line; the end of its text is a better location for the
            // message.
            let end = text.bytes.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? 0
            span = ByteSpan(end..<end)
            if let opened {
                let place = Diagnostic.Place(opened, in: text)
                notes = [Diagnostic.Note("this is never closed", at: place)]
            }
        }
        let message = code == .cutOff ? "the file ends before its JSON is complete" : error.message
        collector.report(
            code,
            at: span,
            in: self,
            message,
            label: label,
            help: help,
            notes: notes
        )
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func advice(
        on error: JSONError
    ) -> (code: DiagnosticCode, label: String?, help: String?) {
        switch error.kind {
        case .empty:
            (.emptyFile, nil, "the smallest manifest is {\"version\": 1}")
        case .byteOrderMark: (.byteOrderMark, nil, "save it as UTF-8 without a byte order mark")
        case .notUTF8: (.notUTF8, nil, "save the file as UTF-8")
        case .unexpectedEnd:
            (.cutOff, "something is missing here", "close what is open, or restore the file")
        case .tooDeep: (.nestedTooDeep, nil, nil)
        case .unexpected(let found, let expected):
            (.malformed, "\(expected) is needed", unexpectedHelp(found))
        case .badNumber: (.malformed, nil, "durations and sizes are strings, such as \"30s\"")
        case .badEscape:
            (.malformed, nil, "a backslash itself is written twice")
        case .controlCharacterInString(let byte):
            (.malformed, byte == 0x0A ? "the string is not closed on its line" : nil, nil)
        default: (.malformed, nil, nil)
        }
    }

    private static func unexpectedHelp(_ found: String) -> String? {
        switch found {
        case "`'`": "strings and keys stand in double quotation marks"
        case "`True`", "`False`", "`None`", "`NULL`", "`TRUE`", "`FALSE`":
            "JSON writes true, false and null in lower case"
        case "`#`": "comments begin with //"
        default: nil
        }
    }
}
