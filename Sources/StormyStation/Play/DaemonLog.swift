// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Prints the daemon's output line by line, and keeps its last lines.
package final class DaemonLog: Sendable {
    package static let tailLines = 20

    private struct State {
        var splitter = LineSplitter()
        var tail: [String] = []
    }

    private let state = Mutex(State())
    private let style: TerminalStyle
    private let write: @Sendable (String) -> Void

    /// - Parameter write: called with each line and its prefix.
    package init(style: TerminalStyle, write: @escaping @Sendable (String) -> Void) {
        self.style = style
        self.write = write
    }

    /// The last lines without the prefix, the oldest first.
    package var tail: [String] { state.withLock { $0.tail } }

    package func feed(_ bytes: some Sequence<UInt8>) {
        show { $0.feed(bytes) }
    }

    /// Prints the text after the last line break as a line.
    package func finish() {
        show { $0.finish() }
    }

    private func show(_ split: (inout LineSplitter) -> [String]) {
        let lines = state.withLock { state in
            let lines = split(&state.splitter).map { style.shown($0, width: .max) }
            state.tail = (state.tail + lines).suffix(Self.tailLines)
            return lines
        }
        for line in lines {
            write(style.dimmed("  bghost | \(line)"))
        }
    }
}

/// Splits a stream of bytes into lines of limited length.
struct LineSplitter {
    static let lineBytesMax = 4096

    private var line: [UInt8] = []
    private var skipped = 0

    mutating func feed(_ bytes: some Sequence<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines.append(take())
            } else if line.count < Self.lineBytesMax {
                line.append(byte)
            } else {
                skipped += 1
            }
        }
        return lines
    }

    mutating func finish() -> [String] {
        line.isEmpty && skipped == 0 ? [] : [take()]
    }

    private mutating func take() -> String {
        defer { (line, skipped) = ([], 0) }
        let text = String(decoding: line, as: UTF8.self)
        return skipped == 0 ? text : "\(text) [\(counted(skipped, "byte")) more]"
    }
}
