// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostCommand
import BghostCommandLine
@testable import BghostTerminal
import BghostTestSupport
import Testing

/// What operators see of transfers.
@Suite struct TransferCommandTests {
    private static let plain = Style(hasColor: false, hasUnicode: false)

    private func view(_ number: UInt64, _ state: String, _ bytes: Int64) -> TransferView {
        TransferView(
            id: RunID(high: 1, low: number),
            plugin: "p",
            session: "s",
            url: "http://h/\u{1B}[31m",
            isUpload: false,
            stateName: state,
            bytes: bytes,
            total: 1000,
            createdAt: 1_700_000_000_000_000_000
        )
    }

    @Test func `Encoded transfers decode unchanged`() throws {
        var full = view(1, "failed", 500)
        full.label = "a \"label\""
        full.file = "/d/f"
        full.status = 404
        full.fault = "gone"
        full.failures = 3
        full.isAwaited = true
        full.waitingFor = "something"
        full.endedAt = 1_700_000_001_000_000_000
        for view in [full, view(2, "active", 0)] {
            #expect(try APICoder.value(from: APICoder.json(view)) == view)
        }
    }

    @Test func `Watch prints a line for each tenth and the end`() {
        var screen = TransferScreen()
        var lines: [String] = []
        for bytes in stride(from: Int64(0), through: 1000, by: 20) {
            let state = bytes == 1000 ? "done" : "active"
            lines += screen.lines([view(1, state, bytes)]).split(separator: "\n").map(String.init)
        }
        #expect(screen.lines([view(1, "done", 1000)]).isEmpty)
        let tenths = lines.dropLast().compactMap { line in
            line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
        #expect(tenths == Array(stride(from: 0, through: 100, by: 10)))
        #expect(lines.last?.contains("done") == true)
        #expect(lines.allSatisfy { !$0.contains("\u{1B}") })
    }

    @Test func `A picture takes the place of the one before`() {
        var screen = TransferScreen()
        let first = screen.frame([view(1, "active", 250)], now: 0, Self.plain)
        #expect(first.contains("#####............... 25 %, 250 B of 1000 B"), "\(first)")
        #expect(!first.contains("\u{1B}"))
        let second = screen.frame([view(1, "active", 500)], now: 0, Self.plain)
        #expect(second.hasPrefix("\u{1B}[2A\u{1B}[J"))
    }

    @Test func `A transfer is found by the beginning of its ID`() throws {
        let views = [view(1, "active", 0), view(2, "active", 0)]
        #expect(try TransferView.named(views[1].id.description, in: views) == views[1])
        for (prefix, code) in [
            ("0", OperatorRefusal.Code.ambiguousTransfer), ("", .noSuchTransfer),
            ("7", .noSuchTransfer),
        ] {
            let refusal = #expect(throws: OperatorRefusal.self) {
                try TransferView.named(prefix, in: views)
            }
            #expect(refusal?.code == code)
        }
        #expect(ExitStatus(.ambiguousTransfer) == ExitStatus(.ambiguousRun))
    }
}
