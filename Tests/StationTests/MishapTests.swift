// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StormyStation
import Testing

/// What goes wrong on request, once each.
@Suite(.timeLimit(.minutes(5))) struct MishapTests {
    private static let forecast = "/v1/forecast?latitude=1&longitude=1"
    private let station = StationFixture()

    private func ask(_ client: any TestClientProtocol) async throws -> TestResponse {
        try await client.execute(uri: Self.forecast, method: .get)
    }

    private func plan(_ mishap: String) async throws -> HTTPResponse.Status {
        try await station.send(.put, "/mishaps/\(mishap)").status
    }

    @Test(arguments: ["nowhere/cut", "forecast/burn", "photo/lie", "offset/cut", "offset/lie"])
    func `Knows what can happen`(mishap: String) async throws {
        let response = try await station.send(.put, "/mishaps/\(mishap)")
        #expect(response.status == .notFound)
        #expect(String(buffer: response.body).contains("forecast/hold|cut|lie|redirect|refuse"))
    }

    @Test func `Happens once and in order`() async throws {
        for kind in ["refuse", "redirect"] {
            #expect(try await plan("forecast/\(kind)") == .noContent)
        }
        let busy = try await station.send(.get, Self.forecast)
        #expect(busy.status == .serviceUnavailable)
        #expect(busy.headers[.retryAfter] == "1")
        let moved = try await station.send(.get, Self.forecast)
        #expect(moved.status == .temporaryRedirect)
        #expect(moved.headers[.location] == Self.forecast)
        #expect(try await station.send(.get, Self.forecast).status == .ok)
        #expect(station.record.forecasts.count == 1)
        #expect(station.record.refused == 0)
    }

    @Test func `A mishap is forgotten when it is deleted`() async throws {
        #expect(try await plan("forecast/refuse") == .noContent)
        #expect(try await station.send(.delete, "/mishaps").status == .noContent)
        #expect(try await station.send(.get, Self.forecast).status == .ok)
    }

    @Test func `Lies so that the digest tells`() async throws {
        let whole = try await station.send(.get, Self.forecast)
        station.mishaps.plan(.lie, at: .forecast)
        let lie = try await station.send(.get, Self.forecast)
        // The clock stands still, but not what it took to answer: the length may differ.
        #expect(lie.headers[.contentLength] == "\(lie.body.readableBytes)")
        #expect(String(buffer: whole.body).hasSuffix("}"))
        #expect(String(buffer: lie.body).hasSuffix("|"))
    }

    /// Half of it comes, and the rest when it is let go; the record says so at each moment.
    @Test func `Holds the second half`() async throws {
        station.mishaps.plan(.hold, at: .forecast)
        let response = try await station.test(.live) { [station] client in
            async let answer = ask(client)
            while !station.mishaps.isHolding(at: .forecast) { await Task.yield() }
            let entry = try #require(station.record.forecasts.first)
            #expect(entry.bytesSent == entry.bytes / 2)
            #expect(entry.completeAt == nil)
            station.mishaps.release(at: .forecast)
            return try await answer
        }
        #expect(response.status == .ok)
        let entry = try #require(station.record.forecasts.first)
        #expect(entry.bytes == response.body.readableBytes)
        #expect(entry.bytesSent == entry.bytes)
        #expect(entry.completeAt == StationFixture.now)
    }

    @Test func `Goes on where it was cut`() async throws {
        station.mishaps.plan(.cut, at: .forecast)
        let isAnswered = try await station.test(.live) { (try? await ask($0)) != nil }
        #expect(!isAnswered)
        let cut = try #require(station.record.forecasts.first)
        #expect(cut.bytesSent == cut.bytes / 2)
        #expect(cut.completeAt == nil)

        let whole = try await station.send(.get, Self.forecast)
        let tag = try #require(whole.headers[.eTag])
        let rest = try await station.send(
            .get,
            Self.forecast,
            fields: ["Range": "bytes=7-", "If-Range": tag]
        )
        #expect(rest.status == .partialContent)
        let count = whole.body.readableBytes
        #expect(rest.headers[.contentRange] == "bytes 7-\(count - 1)/\(count)")
        #expect(rest.body == whole.body.getSlice(at: 7, length: count - 7))
        #expect(station.record.forecasts.last?.from == 7)
        #expect(station.record.forecasts.last?.bytesSent == count - 7)
    }

    /// Of what it does not know any more, or is not asked rightly, there is a whole.
    @Test(arguments: [
        ["Range": "bytes=7-"], ["Range": "bytes=7-", "If-Range": "\"other\""],
        ["Range": "bytes=7-9"], ["Range": "bytes=99999-"], ["Range": "lines=1-"],
    ])
    func `Gives the whole otherwise`(fields: [String: String]) async throws {
        let whole = try await station.send(.get, Self.forecast)
        let tag = try #require(whole.headers[.eTag])
        let own = fields["Range"] == "bytes=7-" ? fields : fields.merging(["If-Range": tag]) { $1 }
        let response = try await station.send(.get, Self.forecast, fields: own)
        #expect(response.status == .ok)
        #expect(response.headers[.contentRange] == nil)
    }
}
