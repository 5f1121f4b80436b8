// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostLogFiles
import BghostModel
import Testing

/// Lines of the log's file, as they are written and read again.
@Suite(.timeLimit(.minutes(5))) struct LogLineFormatTests {
    static let hostile = [
        "", "plain", "a \"quoted\" word", #"back\slash \" end"#, "a\nb\r\nc",
        "\u{1B}[2J\u{1B}]0;title\u{7}", #"{"level":"fault","message":"forged"}"#,
        "x level=fault message=\"forged\"", "\u{202E}reversed\u{2028}line", "\u{0}\u{1F}\u{7F}",
        String(decoding: [0x61, 0xFF, 0xFE, 0xC3], as: UTF8.self), "ü €  𝄞",
    ]

    private func entry(_ message: String) -> LogEntry {
        LogEntry(
            sequence: 7,
            time: 1_795_499_971_272_000_000,
            level: .warning,
            source: .stderr,
            event: "run.ended",
            // As the log escapes it.
            message: PrintableText.escaped(message),
            task: "com.acme.storm",
            plugin: "storm",
            run: RunID(high: 1, low: 2)
        )
    }

    @Test(arguments: hostile)
    func `Any text is one line that is read as it was written`(text: String) throws {
        for format in [LogSettings.Format.json, .logfmt] {
            let line = LogLineFormat.line(entry(text), format)
            #expect(line.count { $0 == UInt8(ascii: "\n") } == 1 && line.last == UInt8(ascii: "\n"))
            let read = try #require(LogLineFormat.entry(line.dropLast(), format), "\(format)")
            #expect(read == entry(text), "\(format)")
            #expect(line.allSatisfy { $0 >= 0x20 || $0 == 0x0A })
        }
        let text = LogLineFormat.line(entry(text), .text)
        #expect(text.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(
            String(decoding: text, as: UTF8.self).hasPrefix(
                "2026-11-24T05:59:31.272Z warning com.acme.storm stderr"
            )
        )
    }

    @Test func `A line that was cut anywhere is not read as one`() {
        for format in [LogSettings.Format.json, .logfmt] {
            let line = LogLineFormat.line(entry(#"a "quoted" text \ with task=x "#), format)
                .dropLast()
            for length in 0..<line.count {
                #expect(
                    LogLineFormat.entry(line.prefix(length), format) == nil,
                    "\(format) \(length)"
                )
                // The rest of a line is none either.
                if length > 0 {
                    #expect(
                        LogLineFormat.entry(line.suffix(length), format) == nil,
                        "\(format) \(length)"
                    )
                }
            }
        }
    }

    @Test func `The bytes that a search looks for are in each line that matches`() {
        let filter = LogFilter(task: "com.acme.storm", run: RunID(high: 1, low: 2), plugin: "storm")
        for format in [LogSettings.Format.json, .logfmt] {
            let line = LogLineFormat.line(entry("x"), format)
            let needles = LogLineFormat.needles(filter, format)
            #expect(needles.count == 3)
            for needle in needles {
                #expect(
                    String(decoding: line, as: UTF8.self).contains(
                        String(decoding: needle, as: UTF8.self)
                    )
                )
            }
        }
    }
}
