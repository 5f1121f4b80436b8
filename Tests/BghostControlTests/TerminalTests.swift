// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostCommand
@testable import BghostTerminal
import BghostTestSupport
import Testing

@Suite struct TerminalTests {
    // MARK: - Colour

    @Test(arguments: [
        (ColorChoice.auto, true, ["TERM": "xterm"], true),
        (.auto, false, ["TERM": "xterm"], false),
        (.auto, true, ["TERM": "dumb"], false),
        (.auto, true, ["NO_COLOR": "1"], false),
        (.auto, false, ["FORCE_COLOR": "1"], true),
        (.auto, true, ["FORCE_COLOR": "0"], false),
        (.auto, true, ["NO_COLOR": "1", "FORCE_COLOR": "1"], false),
        (.always, false, ["NO_COLOR": "1", "TERM": "dumb"], true),
        (.never, true, ["FORCE_COLOR": "1"], false),
    ])
    func `Decides on colour`(
        choice: ColorChoice,
        isTerminal: Bool,
        environment: [String: String],
        colored: Bool
    ) {
        let style = Style(choice: choice, isTerminal: isTerminal) { environment[$0] }
        #expect(style.hasColor == colored)
    }

    @Test(arguments: [
        (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), (["LANG": "C"], false),
        ([:], false),
        (["LC_ALL": "C", "LANG": "C.UTF-8"], false), (["LC_CTYPE": "C.UTF-8", "LANG": "C"], true),
    ])
    func `Decides on signs`(environment: [String: String], hasUnicode: Bool) {
        let style = Style(choice: .never, isTerminal: true) { environment[$0] }
        #expect(style.hasUnicode == hasUnicode)
        #expect(style.text(.good) == (hasUnicode ? "✓" : "+"))
        #expect(style.text(.bad) == (hasUnicode ? "✗" : "x"))
    }

    @Test(arguments: [
        (["status"], ColorChoice.auto), (["status", "--color", "never"], .never),
        (["--color=always"], .always), (["--color"], .auto), (["--color", "blue"], .auto),
    ])
    func `Finds the choice in a command line`(arguments: [String], choice: ColorChoice) {
        #expect(ColorChoice(in: arguments) == choice)
    }

    // MARK: - Foreign text

    @Test(arguments: [
        ("plain ünïcode ✓ 日本", "plain ünïcode ✓ 日本"),
        ("\u{1B}[2J\u{7}", #"\u{1B}[2J\u{7}"#),
        ("a\nb\r\tc", #"a\nb\r\tc"#),
        ("\u{9B}31m\u{7F}", #"\u{9B}31m\u{7F}"#),
        ("a\u{202E}b\u{2066}", #"a\u{202E}b\u{2066}"#),
        ("\u{2028}\u{FEFF}", #"\u{2028}\u{FEFF}"#),
    ])
    func `Escapes what steers a terminal`(text: String, escaped: String) {
        #expect(TerminalText.escaped(text) == escaped)
    }

    @Test func `Escaped JSON says the same`() {
        let json = "{\"a\":\"\u{9B}x\u{202E}\u{E0041}\"}\n"
        #expect(TerminalText.escapedJSON(json) == "{\"a\":\"\\u009bx\\u202e\\udb40\\udc41\"}\n")
        #expect(TerminalText.escapedJSON("{\"a\":\"ü\"}\n") == "{\"a\":\"ü\"}\n")
    }

    // MARK: - Widths

    @Test(arguments: [
        ("", 0), ("abc", 3), ("ü", 1), ("u\u{308}", 1), ("日本", 4), ("🙂", 2), ("❤️", 2), ("🇩🇪", 2),
        ("👩‍👩‍👧", 2), ("✓", 1), ("가", 2), ("ｱ", 1), ("Ａ", 2),
    ])
    func `The width of text is measured`(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test func `Columns stand under one another`() {
        var table = TextTable(header: ["A", "EMPTY", "B", "C"])
        table.add(["日本", "", .init("x", .bad), ""])
        table.add(["a", "", "longer", "end"])
        let plain = Style(hasColor: false, hasUnicode: true)
        #expect(table.text(plain) == "A     B       C\n日本  x\na     longer  end\n")
        let colored = table.text(Style(hasColor: true, hasUnicode: true))
        #expect(colored.contains("日本  \u{1B}[31mx\u{1B}[0m\n"))
    }

    @Test func `A table without rows is nothing`() {
        #expect(TextTable(header: ["A"]).text(Style(hasColor: true, hasUnicode: true)).isEmpty)
    }

    // MARK: - Quantities

    @Test(arguments: [
        (Duration.zero, "0ms"), (.milliseconds(340), "340ms"), (.milliseconds(1250), "1.2s"),
        (.seconds(25), "25s"), (.seconds(125), "2m05s"), (.seconds(120), "2m"),
        (.seconds(93_780), "26h03m"), (.seconds(259_200), "3d"), (.seconds(-5), "0ms"),
    ])
    func `Durations are written`(duration: Duration, text: String) {
        #expect(HumanText.duration(duration) == text)
    }

    @Test(arguments: [
        (Int64(0), "now"), (-4_000_000_000, "4s ago"), (-240_000_000_000, "4m ago"),
        (-93_600_000_000_000, "26h ago"), (-259_200_000_000_000, "3d ago"),
        (660_000_000_000, "in 11m"),
        (Int64.max, "in 106751d"),
    ])
    func `Times are written`(distance: Int64, text: String) {
        #expect(HumanText.time(distance, now: 0) == text)
    }

    @Test func `Times far apart do not trap`() {
        #expect(HumanText.time(.max, now: .min).hasPrefix("in "))
        #expect(HumanText.clock(.min).count == 12)
        #expect(HumanText.clock(.max).count == 12)
    }

    @Test(arguments: [
        (UInt64(0), "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
        (20_656_947, "19.7 MiB"), (268_435_456, "256 MiB"), (UInt64.max, "16 EiB"),
    ])
    func `Sizes in bytes are written`(count: UInt64, text: String) {
        #expect(HumanText.bytes(count) == text)
    }

    @Test(arguments: [
        ("30s", Duration.seconds(30)), ("1h30m", .seconds(5400)), ("250ms", .milliseconds(250)),
        ("2d", .seconds(172_800)), ("0s", .zero),
    ])
    func `Durations are read`(text: String, duration: Duration) {
        #expect(HumanText.duration(from: text) == duration)
    }

    @Test(arguments: ["", "30", "s", "-5s", "5 s", "5x", "1h30", "99999999999999999999s", "40000d"])
    func `Refuses other durations`(text: String) {
        #expect(HumanText.duration(from: text) == nil)
    }
}
