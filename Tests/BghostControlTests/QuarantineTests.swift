// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostCommand
import BghostControl
@testable import BghostTerminal
import BghostTestSupport
@testable import BghostViews
import Testing

/// How an operator learns of a plugin that is not run any more.
@Suite(.timeLimit(.minutes(5)))
struct QuarantineTests {
    private static let quarantine = Quarantine(
        plugin: "storm",
        library: String(repeating: "0f", count: 32),
        host: "0.1.0 1.2.3",
        since: 1_700_000_000_000_000_000,
        reason: "its worker ended by itself (SIGSEGV)\u{1B}[31m"
    )

    @Test func `The status carries it`() async throws {
        try await Serving.with { serving in
            let before = try await serving.ask { try await $0.status() }
            #expect(before.value.plugins.map(\.quarantine) == [nil])
            await serving.host.set(Self.quarantine)
            let status = try await serving.ask { try await $0.status() }
            #expect(status.value.plugins.map(\.quarantine) == [Self.quarantine])
            #expect(status.json.contains(#""since":"2023-11-14T22:13:20"#))
        }
    }

    @Test func `The status tells of workers that were ended without a run`() async throws {
        let ends = IdleWorkerEnds(
            count: 3,
            since: 1_700_000_000_000_000_000,
            last: 1_700_000_060_000_000_000,
            reason: "used more than 100 ms of processor time\u{1B}[31m"
        )
        try await Serving.with { serving in
            let before = try await serving.ask { try await $0.status() }
            #expect(before.value.plugins.map(\.idleEnds) == [nil])
            #expect(before.json.contains(#""idleEnds":null"#))
            await serving.host.set(ends)
            let status = try await serving.ask { try await $0.status() }
            #expect(status.value.plugins.map(\.idleEnds) == [ends])
            #expect(
                status.json.contains(
                    #""idleEnds":{"count":3,"last":"2023-11-14T22:14:20"#
                )
            )
            // It is over, and may not come again: what needs an operator is the quarantine.
            #expect(status.value.problems.isEmpty)
            let view = StatusView(status: status.value, now: ends.last + 12_000_000_000)
            #expect(
                view.text(Style(hasColor: false, hasUnicode: true)).contains(
                    #"! plugin storm: a worker was ended 12s ago, since it used more than 100 ms of"#
                        + #" processor time\u{1B}[31m without a run; 3 times, first 1m ago"#
                )
            )
        }
    }

    @Test func `The doctor names it and what lifts it`() async throws {
        try await Serving.with { serving in
            await serving.host.set(Self.quarantine)
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
