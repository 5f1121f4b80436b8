// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostCommand
import BghostModel
import BghostPolicy
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// Texts for people who change a daemon: tables in a terminal, progress, and what to look at first.
@Suite struct SafeChangeViewTests {
    private let plain = Style(hasColor: false, hasUnicode: true)

    @Test func `A table is cut so that its lines fit into the terminal`() {
        var table = TextTable(header: ["TASK", "STATE", "WHY"])
        table.add(["org.example.backup", "waiting", .init(String(repeating: "why ", count: 40))])
        table.add(["b", "idle", ""])
        for width in [60, 80, 120] {
            var style = plain
            style.width = width
            let lines = table.text(style).split(separator: "\n")
            #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= width }, "\(width)")
            #expect(lines[1].hasPrefix("org.example.backup  waiting  why why"))
            #expect(lines[1].hasSuffix("…") && DisplayWidth.of(String(lines[1])) == width)
        }
        // Without a terminal nothing is cut, and on a narrow one columns keep a least width.
        #expect(table.text(plain).contains(String(repeating: "why ", count: 40)))
        var narrow = plain
        narrow.width = 10
        #expect(table.text(narrow).contains("waiting"))
        #expect(Style(hasColor: false, hasUnicode: false).cut("abcdef", to: 5) == "ab...")
        #expect(plain.cut("日本語", to: 5) == "日本…")
    }

    @Test func `A frame fits on the screen, and says how much is left out`() {
        let size = TerminalSize(columns: 20, rows: 3)
        let all = WatchScreen.frame("a\nb\nc\n", size)
        #expect(all == "\u{1B}[Ha\u{1B}[K\r\nb\u{1B}[K\r\nc\u{1B}[K\u{1B}[J")
        #expect(WatchScreen.frame("a\nb\nc\nd\n", size).contains("b\u{1B}[K\r\n2 more lines"))
    }

    @Test func `Progress is one line on a terminal, and a line for each change elsewhere`() {
        let running = DrainStatus(
            draining: true,
            finishing: true,
            running: 2,
            until: 60_000_000_000
        )
        var file = DrainProgress(isTerminal: false)
        #expect(file.text(running, now: 0) == "2 runs in progress\n")
        #expect(file.text(running, now: 1_000_000_000) == "")
        let stopping = DrainStatus(draining: true, running: 1, cancelled: 1)
        #expect(file.text(stopping, now: 0) == "1 run in progress, stopping\n")
        #expect(file.end == "" && DrainProgress.cancelled(stopping) == "; 1 run was cancelled")
        var terminal = DrainProgress(isTerminal: true)
        #expect(terminal.end == "")
        #expect(
            terminal.text(running, now: 30_000_000_000)
                == "\r2 runs in progress, cancelled in 30s\u{1B}[K"
        )
        #expect(terminal.end == "\r\u{1B}[K")
    }

    private func gate(_ kind: Gate.Kind, until: Int64? = nil, remedy: String = "") -> Gate {
        Gate(
            kind,
            isOpen: false,
            now: "so",
            wanted: "other",
            until: until,
            remedy: remedy,
            condition: "it were other"
        )
    }

    private func explanation(_ gates: [Gate]) -> Explanation {
        let request = PendingRequest(id: RunID(high: 1, low: 1), task: "a", submittedAt: 0)
        return Explanation(request: request, gates: gates, at: 0)
    }

    @Test func `The gate to act upon comes before the one that opens last`() {
        let soon = gate(.notBefore, until: 10)
        let late = gate(.throttle, until: 20, remedy: "clear it")
        let stuck = gate(.overlap)
        let act = gate(.requirement, remedy: "plug it in")
        #expect(explanation([]).blocker == nil)
        #expect(explanation([late, soon]).blocker == late)
        #expect(explanation([soon, late, stuck]).blocker == stuck)
        #expect(explanation([soon, stuck, act, late]).blocker == act)
        let open = Gate(.slot, isOpen: true, now: "free", wanted: "a slot")
        #expect(explanation([open]).blocker == nil)
    }

    @Test(
        arguments: [
            ([Gate](), "a starts: nothing blocks it"),
            (
                [
                    Gate(
                        .paused,
                        isOpen: false,
                        now: "paused by uid 0",
                        wanted: "no pause",
                        remedy: "`r`"
                    )
                ],
                "a waits for paused: paused by uid 0; to unblock: `r`"
            ),
            (
                [
                    Gate(
                        .notBefore,
                        isOpen: false,
                        now: "0",
                        wanted: "1",
                        until: 3_600_000_000_000
                    ),
                    Gate(.throttle, isOpen: false, now: "x", wanted: "y", until: 60_000_000_000),
                ],
                "a waits for notBefore, which unblocks in 1h (and 1 more unmet gate)"
            ),
        ] as [([Gate], String)]
    )
    func `The first line of why says what to look at`(gates: [Gate], line: String) {
        var answer = TaskExplanation(task: "a", at: 0)
        answer.requests = [explanation(gates)]
        let text = WhyView(answer: answer).text(plain)
        #expect(text.split(separator: "\n").first.map(String.init) == line, "\(text)")
    }
}
