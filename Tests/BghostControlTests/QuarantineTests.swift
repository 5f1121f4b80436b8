// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostLinux
import BghostModel
@testable import BghostCommand
import BghostControl
import BghostPolicy
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// How an operator learns of a plugin that is not run any more.
@Suite(.timeLimit(.minutes(5)))
struct QuarantineTests {
    private static let reason = "its worker ended by itself (SIGSEGV)\u{1B}[31m"

    @Test func `The status carries it`() async throws {
        try await Serving.with { serving in
            let before = try await serving.ask { try await $0.status() }
            #expect(before.value.plugins.map(\.quarantine) == [nil])
            await serving.host.quarantinePlugin(Self.reason)
            let status = try await serving.ask { try await $0.status() }
            let quarantine = try #require(status.value.plugins.first?.quarantine)
            #expect(quarantine.reason == Self.reason && quarantine.plugin == "storm")
            let since = Timestamp.text(unixNanoseconds: quarantine.since)
            #expect(status.json.contains(#""since":"\#(since)""#), "\(since) \(status.json)")
        }
    }

    @Test func `The status tells of workers that were ended without a run`() async throws {
        let minute: Int64 = 60_000_000_000
        // The API rounds times.
        let now = WallClock.now / 1_000_000 * 1_000_000
        let reason = "used more than 100 ms of processor time\u{1B}[31m"
        try await Serving.with { serving in
            let before = try await serving.ask { try await $0.status() }
            #expect(before.value.plugins.map(\.idleEnds) == [nil])
            #expect(before.json.contains(#""idleEnds":null"#))
            for end in [now - minute, now - minute / 2, now] {
                await serving.host.idleWorkerEnded(for: reason, at: end)
            }
            let status = try await serving.ask { try await $0.status() }
            let ends = IdleWorkerEnds(count: 3, since: now - minute, last: now, reason: reason)
            #expect(status.value.plugins.map(\.idleEnds) == [ends])
            let last = Timestamp.text(unixNanoseconds: now)
            #expect(
                status.json.contains(#""idleEnds":{"count":3,"last":"\#(last)""#),
                "\(status.json)"
            )
            // It is over, and may not come again: what needs an operator is the quarantine.
            #expect(status.value.problems.isEmpty)
            let view = StatusView(status: status.value, now: ends.last + 12_000_000_000)
            #expect(
                view.text(Style(hasColor: false, hasUnicode: true)).contains(
                    #"! plugin storm: a worker was ended 12s ago: outside of runs it used more than"#
                        + #" 100 ms of processor time\u{1B}[31m; 3 times, first 1m ago"#
                )
            )
        }
    }

    @Test func `The doctor names it and what lifts it`() async throws {
        try await Serving.with { serving in
            await serving.host.quarantinePlugin(Self.reason)
            let arguments = ["doctor", "--control", serving.socketPath]
            let text = try await Bghost.run(arguments)
            #expect(text.output.contains("plugin storm was quarantined "), "\(text)")
            #expect(
                text.output.contains(
                    #"its worker ended by itself (SIGSEGV)\u{1B}[31m; fix it, then `bghost enable storm`"#
                )
            )
            let result = try await Bghost.run(arguments + ["--json"])
            let json = try JSONReader.parse(Array(result.output.utf8), dialect: .strict)
            let quarantined = try #require(json["quarantined"]?.array)
            #expect(quarantined.map { $0["plugin"]?.string } == ["storm"])
            #expect(quarantined.map { $0["lift"]?.string } == ["bghost enable storm"])
        }
    }
}
