// SPDX-License-Identifier: Apache-2.0

import BghostTransferBridge
@testable import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostControl
@testable import BghostHost
import BghostModel
import BghostStore
import BghostTestSupport
import BghostTransfer
import BghostTransferRules
import Testing

/// The list of transfers in pages.
@Suite(.timeLimit(.minutes(5))) struct TransferRouteTests {
    /// A host with transfers of these numbers, which wait for the year 2100.
    private static func host(_ numbers: [UInt64]) async throws -> TestHost {
        let journal = MemoryTransferJournal()
        journal.keep(numbers.map { .created(record($0)) })
        return try await .start {
            $0.plugins[0].permissions.network = [NetworkGrant(host: "127.0.0.1", port: 9)]
            $0.sessions = [
                SessionDefinition(name: "s", plugin: "storm", handler: "handler")
            ]
        } configuration: {
            $0.openTransfers = { _ in journal }
        }
    }

    private static func record(_ number: UInt64) -> TransferRecord {
        var request = TransferRequest(
            id: RunID(high: 1, low: number),
            plugin: "storm",
            session: "s",
            kind: .download,
            url: "http://127.0.0.1:9/\(number)",
            file: "/nonexistent/\(number)",
            createdAt: 1_700_000_000_000_000_000
        )
        request.notBefore = 4_102_444_800_000_000_000
        return TransferRecord(
            request: request,
            key: "\(number)",
            point: TransferPoint(),
            status: TransferStatus(state: .waiting)
        )
    }

    private static func page(
        _ query: String,
        _ serving: Serving
    ) async throws -> API.Transfers {
        let text = try await onThread {
            let connection = try RawConnection(serving.socketPath)
            connection.send("GET /v1/transfers\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection.receiveAnswer()
        }
        let body = try #require(text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] })
        return try APICoder.value(from: Array(body.utf8))
    }

    private static func numbers(_ views: [TransferView]) -> [UInt64] { views.map(\.id.low) }

    @Test func `Pages follow each other by the ids, while transfers come and go`() async throws {
        let host = try await Self.host([5, 1, 4, 2, 3])
        try await Serving.with(host) { serving in
            let first = try await Self.page("?limit=2", serving)
            #expect(Self.numbers(first.transfers) == [1, 2] && first.total == 5)
            // The last one of the page has gone, and another has come before it.
            await host.removeTransfer(RunID(high: 1, low: 2))
            await host.removeTransfer(RunID(high: 1, low: 1))
            try await host.add(Self.record(0).request)
            let cursor = try #require(first.next)
            let second = try await Self.page("?limit=2&cursor=\(cursor)", serving)
            #expect(Self.numbers(second.transfers) == [3, 4] && second.total == 4)
            let last = try await Self.page("?limit=2&cursor=\(try #require(second.next))", serving)
            #expect(Self.numbers(last.transfers) == [5] && last.next == nil)
            let all = try await Self.page("", serving)
            #expect(Self.numbers(all.transfers) == [0, 3, 4, 5] && all.next == nil)
        }
    }

    @Test func `The client asks for all pages`() async throws {
        try await Serving.with(try await Self.host([5, 1, 4, 2, 3])) { serving in
            for limit in [1, 2, 5, 100] {
                let answer = try await serving.ask { try await $0.transfers(limit: limit) }
                #expect(Self.numbers(answer.value) == [1, 2, 3, 4, 5], "\(limit)")
                let json: API.Transfers = try APICoder.value(from: Array(answer.json.utf8))
                #expect(json.transfers == answer.value && json.total == 5 && json.next == nil)
            }
        }
    }

    @Test func `A cursor that is none, or one of another list, is refused`() async throws {
        try await Serving.with { serving in
            let other = PageCursor.dead(diedAt: 1, run: RunID(high: 1, low: 1)).text
            for query in ["cursor=\(other)", "cursor=x"] {
                let text = try await onThread {
                    let connection = try RawConnection(serving.socketPath)
                    connection.send(
                        "GET /v1/transfers?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    )
                    return connection.receiveAnswer()
                }
                #expect(text.hasPrefix("HTTP/1.1 400 ") && text.contains("BG4046"), "\(text)")
            }
        }
    }
}

extension TestHost {
    fileprivate func removeTransfer(_ id: RunID) async { await host.removeTransfer(id) }

    fileprivate func add(_ request: TransferRequest) async throws { try await host.add(request) }
}

extension Host {
    /// Cancels a transfer, and acknowledges its end as its session would.
    fileprivate func removeTransfer(_ id: RunID) async {
        guard let engine = owners.transfers.table?.engine else { return }
        await engine.cancel(id)
        await engine.acknowledge([id], in: SessionKey(plugin: "storm", session: "s"))
    }

    fileprivate func add(_ request: TransferRequest) async throws {
        var request = request
        let table = try #require(owners.transfers.table)
        request.file = owners.plugins[0].dataDirectory + "/file"
        _ = try await table.engine.create(request)
    }
}
