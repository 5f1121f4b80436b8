// SPDX-License-Identifier: Apache-2.0

import BghostLinux
@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

/// Pauses and drains over the control socket.
@Suite(.ownThreads) struct PauseRouteTests {
    @Test func `Each target and each end reaches the host, with the user who asks`() async throws {
        try await Serving.with { serving in
            let targets: [PauseTarget] = [
                .all, .plugin("storm"), .tasks("com.acme.storm"), .tasks("com.acme.*"),
            ]
            for target in targets {
                let answer = try await serving.ask {
                    try await $0.pause(target, end: .after(60), reason: "a & b").value
                }
                #expect(answer.pause.target == target && answer.pause.reason == "a & b")
                #expect(answer.pause.isRelative)
            }
            _ = try await serving.ask {
                try await $0.pause(.all, end: .at("03:00"), reason: "").value
            }
            let pauses = await serving.host.control.pauses()
            #expect(Set(pauses.map(\.target)) == Set(targets))
            for pause in pauses {
                #expect(pause.user.hasPrefix("uid "))
                #expect(pause.isRelative == (pause.target != .all))
                let length = try #require(pause.until) - pause.since
                #expect(pause.target == .all || length == 60_000_000_000, "\(pause)")
            }
            #expect(try await serving.ask { try await $0.pauses().value.count } == 4)
            let ended = try await serving.ask { try await $0.resume(.plugin("storm")).value }
            #expect(ended.pause.target == .plugin("storm"))
            // The other two cover single tasks, and not the whole plugin.
            #expect(ended.others.map(\.target) == [.all])
        }
    }

    @Test(
        arguments: [
            "", "?all=false", "?all=true&task=a", "?task=a&plugin=b", "?task=a%20b", "?task=a*",
            "?all=true&for=0", "?all=true&for=x", "?all=true&for=1&until=03:00", "?all=1",
            "?all=true&why=x", "?all=true&for=99999999999",
        ]
    )
    func `A question without one clear target or end is refused`(query: String) async throws {
        try await Serving.with { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/pauses\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("BG4020"), "\(answer)")
            #expect(await serving.host.control.pauses().isEmpty)
        }
    }

    @Test(
        arguments: [
            ("", [0]), ("?finish=true", [nil]), ("?finish=true&within=90", [90]),
            ("?finish=false", [0]), ("?within=90", []), ("?finish=true&within=-1", []),
            ("?finish=yes", []), ("?finish=true&within=2592001", []), ("?until=x", []),
        ] as [(String, [Int64?])]
    )
    func `A drain has the bound that was asked for, or is refused`(
        query: String,
        seconds bounds: [Int64?]
    ) async throws {
        try await Serving.with { serving in
            try await serving.host.begin("com.acme.storm")
            let before = WallClock.now
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/drain\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(bounds.isEmpty ? 400 : 200) "), "\(answer)")
            let status = await serving.host.control.drainStatus()
            #expect(status.draining == !bounds.isEmpty)
            guard let bound = bounds.first else { return }
            #expect(status.finishing == (bound != 0) && status.cancelled == (bound == 0 ? 1 : 0))
            // Without a bound, the run may go on as long as it likes.
            guard let bound, bound > 0 else { return #expect(status.until == nil) }
            let until = try #require(status.until)
            let second: Int64 = 1_000_000_000
            #expect(until - before >= (bound - 1) * second)
            #expect(until - WallClock.now <= bound * second)
        }
    }
}
