// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostControl
import BghostModel
import BghostTestSupport
import Testing

/// The list of transfers in pages.
@Suite(.timeLimit(.minutes(5))) struct TransferRouteTests {
    private static func view(_ number: UInt64) -> TransferView {
        TransferView(
            id: RunID(high: 1, low: number),
            plugin: "p",
            session: "s",
            url: "http://h/",
            isUpload: false,
            stateName: "active",
            bytes: 0,
            total: nil,
            createdAt: 1_700_000_000_000_000_000
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
        let host = MemoryHost()
        await host.set([5, 1, 4, 2, 3].map(Self.view))
        try await Serving.with(host) { serving in
            let first = try await Self.page("?limit=2", serving)
            #expect(Self.numbers(first.transfers) == [1, 2] && first.total == 5)
            // The last one of the page has gone, and another has come before it.
            await host.set([5, 0, 4, 3].map(Self.view))
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
        let host = MemoryHost()
        await host.set([5, 1, 4, 2, 3].map(Self.view))
        try await Serving.with(host) { serving in
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
