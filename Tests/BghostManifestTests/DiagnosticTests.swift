// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import BghostTestSupport
import Testing

@Suite
struct DiagnosticTests {
    private static func rendered(_ text: String, color: Bool = false) -> String {
        ManifestFixture.read(text).diagnostics.map { $0.rendered(color: color) }.joined()
    }

    @Test
    func `Points at the part`() {
        let text = """
            {
              "version": 1,
              "plugins": {
            \t"p": { "library": "é/p.so", "permissions": { "netwrok": [] } }
              }
            }
            """
        #expect(
            Self.rendered(text) == """
                error[BG1021]: unknown key `netwrok` in plugin `p`, section `permissions`
                 --> tasks.json:4:47
                  |
                4 |     "p": { "library": "é/p.so", "permissions": { "netwrok": [] } }
                  |                                                  ^^^^^^^^^ did you mean `network`?
                  = help: known here: network, directNetwork, read, write, submit, notify, jit

                """
        )
    }

    @Test
    func `Shows the other place`() {
        let blank = String(repeating: "\n", count: 7)
        let text = "{ \"version\": 1,\n  \"host\": { \"slots\": 1,\(blank)\n  \"slots\": 2 } }"
        #expect(
            Self.rendered(text) == """
                error[BG1020]: the key `slots` stands twice in section `host`
                  --> tasks.json:10:3
                   |
                10 |   "slots": 2 } }
                   |   ^^^^^^^
                   = help: remove one of the two
                note: it stands here first
                  --> tasks.json:2:13
                   |
                 2 |   "host": { "slots": 1,
                   |             -------

                """
        )
    }

    @Test
    func `Colours only if asked`() {
        let plain = Self.rendered("{}")
        let coloured = Self.rendered("{}", color: true)
        #expect(!plain.contains("\u{1B}"))
        #expect(coloured.contains("\u{1B}[1;31merror[BG1022]\u{1B}[0m"))
        var stripped = ""
        var isEscape = false
        for scalar in coloured.unicodeScalars {
            if scalar == "\u{1B}" { isEscape = true }
            if !isEscape { stripped.unicodeScalars.append(scalar) }
            if isEscape, scalar == "m" { isEscape = false }
        }
        #expect(stripped == plain)
    }

    /// A file must not be able to control the terminal of the operator who checks it.
    @Test
    func `Neutralises control characters`() {
        let text = "{ \"version\": 1, \"\u{202E}a\u{7F}\u{9B}31m\\u001b[2J\": 0 }"
        let rendered = Self.rendered(text)
        for scalar: Unicode.Scalar in ["\u{1B}", "\u{7F}", "\u{9B}", "\u{202E}"] {
            #expect(!rendered.unicodeScalars.contains(scalar))
        }
        #expect(rendered.contains("`\\u{202e}a\\u{7f}\\u{9b}31m\\u{1b}[2J`"))
    }

    @Test
    func `Cuts long lines`() {
        let padding = String(repeating: " ", count: 500_000)
        let text = "{ \"version\": 1,\(padding)\"slot\": 0,\(padding)}"
        let rendered = Self.rendered(text)
        #expect(rendered.contains("tasks.json:1:500016"))
        let lines = rendered.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count < 140 })
        #expect(lines.contains { $0.hasPrefix("1 | …") && $0.hasSuffix("…") })
        let indent = lines.first { $0.contains("^") }?.prefix { $0 != "^" }.count
        #expect(indent == lines.first { $0.hasPrefix("1 | …") }?.prefix { $0 != "\"" }.count)
    }

    @Test
    func `Aligns wide and combining characters`() {
        // Two cells for each ideograph, one for e with its accent.
        let text = "{ \"version\": 1, \"x-日本e\u{301}\": 0, \"slot\": 0 }"
        let lines = Self.rendered(text).split(separator: "\n")
        let marks = lines.first { $0.contains("^") }
        #expect(marks?.prefix { $0 != "^" }.count == 34)
    }

    @Test
    func `Names whole files`() {
        let diagnostic = Diagnostic.unreadable(
            file: "a\nb.json",
            reason: "No such file or directory"
        )
        #expect(
            diagnostic.rendered(color: false) == """
                error[BG1001]: cannot read the manifest: No such file or directory
                 --> a\\u{a}b.json
                  = help: name the file with --config FILE; Config/tasks.json is one to begin with

                """
        )
    }

    @Test(arguments: DiagnosticCode.all)
    func `Each code has an explanation`(_ code: DiagnosticCode) {
        #expect(code.explanation.count > 40)
        #expect(code.explanation.hasSuffix("."))
        #expect(code.rawValue.wholeMatch(of: /BG[12][0-9]{3}/) != nil)
    }

    @Test
    func `Counts lines and columns`() {
        let source = SourceText(file: "f", bytes: Array("é1\r\n\n2日\u{1F600}3".utf8))
        func place(_ offset: Int) -> [Int] {
            let location = source.location(at: offset)
            return [location.line, location.column]
        }
        #expect(place(0) == [1, 1])
        #expect(place(2) == [1, 2])
        #expect(place(4) == [1, 4])
        #expect(place(5) == [2, 1])
        #expect(place(6) == [3, 1])
        #expect(place(7) == [3, 2])
        #expect(place(14) == [3, 4])
        #expect(place(15) == [3, 5])
        #expect(place(99) == [3, 5])
        #expect(source.lineRange(at: 0) == 0..<3)
        #expect(source.lineRange(at: 5) == 5..<5)
        #expect(SourceText(file: "f", bytes: []).location(at: 0).line == 1)
    }
}
