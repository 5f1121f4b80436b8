// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostPolicy
import BghostTestSupport
import Testing

/// Pauses and drains over the control socket.
@Suite(.ownThreads) struct PauseRouteTests {
    @Test func `Each target and each end reaches the host, with the user who asks`() async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
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
            let orders = await host.orders
            #expect(orders.map(\.target) == targets + [.all])
            #expect(orders.map(\.end) == Array(repeating: .after(60), count: 4) + [.at("03:00")])
            #expect(orders.allSatisfy { $0.user.hasPrefix("uid ") })
            #expect(try await serving.ask { try await $0.pauses().value.count } == 4)
            let ended = try await serving.ask { try await $0.resume(.plugin("storm")).value }
            #expect(ended.pause.target == .plugin("storm") && ended.others.count == 3)
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
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/pauses\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("BG4020"), "\(answer)")
            #expect(await host.orders.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("", [.zero]), ("?finish=true", [nil]), ("?finish=true&within=90", [.seconds(90)]),
            ("?finish=false", [.zero]), ("?within=90", []), ("?finish=true&within=-1", []),
            ("?finish=yes", []), ("?finish=true&within=2592001", []), ("?until=x", []),
        ] as [(String, [Duration?])]
    )
    func `A drain has the bound that was asked for, or is refused`(
        query: String,
        bounds: [Duration?]
    ) async throws {
        let host = MemoryHost()
        try await Serving.with(host) { serving in
            let answer = try await onThread {
                let connection = try RawConnection(serving.socketPath)
                connection.send(
                    "POST /v1/drain\(query) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n"
                )
                return connection.receiveAnswer()
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(bounds.isEmpty ? 400 : 200) "), "\(answer)")
            #expect(await host.drains == bounds)
        }
    }
}
