// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import Glibc

/// Reads a decision journal line by line: it may be larger than the memory.
struct JournalLines {
    private let path: String
    /// A longer line is not part of a journal.
    private static let lineBytesMax = 1 << 30

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        guard access(path, R_OK) == 0 else {
            throw CommandFailure(
                .inputMissing,
                "cannot read \(TerminalText.escaped(path)): \(String(cString: strerror(errno)))"
            )
        }
    }

    /// The header, from the first line.
    func header() throws(CommandFailure) -> DecisionJournal.Header {
        var found: DecisionJournal.Header?
        try read { _, line throws(CommandFailure) in
            found = try decode(line, 1)
            return false
        }
        guard let found, found.schema == Schema.decisions else {
            throw CommandFailure(
                .failure,
                "\(TerminalText.escaped(path)) is no journal of decisions",
                fix: "bghost run --record FILE writes one"
            )
        }
        return found
    }

    /// Calls the closure with each line after the header, and its number.
    func forEach(
        _ body: (_ number: Int, _ line: DecisionJournal.Line) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        try read { number, line throws(CommandFailure) in
            if number > 1 { try body(number, decode(line, number)) }
            return true
        }
    }

    private func decode<Value: Decodable>(
        _ line: [UInt8],
        _ number: Int
    ) throws(CommandFailure) -> Value {
        do {
            return try DecisionJournal.decode(line)
        } catch {
            throw CommandFailure(
                .failure,
                "line \(number) of \(TerminalText.escaped(path)) cannot be read",
                fix: "bghost run --record FILE of this version writes what it can replay"
            )
        }
    }

    private func read(
        _ body: (_ number: Int, _ line: [UInt8]) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) {
        guard let file = fopen(path, "re") else { return }
        defer { fclose(file) }
        var buffer: UnsafeMutablePointer<CChar>?
        defer { free(buffer) }
        var capacity = 0
        var number = 0
        while case let count = getline(&buffer, &capacity, file), count > 0,
            count < Self.lineBytesMax
        {
            number += 1
            let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
            // A daemon that was killed may have left an incomplete last line.
            guard bytes.last == UInt8(ascii: "\n") || number == 1,
                try body(number, Array(bytes))
            else { return }
        }
    }
}
