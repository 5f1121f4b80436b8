// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import StormyStation
import Testing

/// A station whose clock stands still, with its record.
struct StationFixture {
    /// 2026-11-21 14:25:30 UTC.
    static let now = Date(timeIntervalSince1970: 1_795_271_130)

    let recorder: Recorder
    let mishaps = Mishaps()
    /// One for all requests: it remembers what was begun.
    private let station: Station

    init(recorder: Recorder = Recorder()) {
        self.recorder = recorder
        station = Station(recorder: recorder, mishaps: mishaps, now: { Self.now })
    }

    var record: StationRecord { recorder.record }

    /// Lets `body` send requests, to the routes alone or over a socket.
    func test<Value>(
        _ setup: TestingSetup = .router,
        _ body: @Sendable (any TestClientProtocol) async throws -> Value
    ) async throws -> Value {
        try await StationServer(station: station, port: 0).application().test(setup, body)
    }

    /// Sends one request.
    func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        fields: [String: String] = [:],
        body: [UInt8]? = nil
    ) async throws -> TestResponse {
        var headers = HTTPFields()
        for (name, value) in fields {
            headers[try #require(HTTPField.Name(name))] = value
        }
        return try await test { [headers] client in
            try await client.execute(
                uri: uri,
                method: method,
                headers: headers,
                body: body.map { ByteBuffer(bytes: $0) }
            )
        }
    }
}

extension TestResponse {
    /// The body as JSON.
    func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try RecordCoding.decoder().decode(type, from: Data(body.readableBytesView))
    }
}
