// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import FoundationEssentials
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StormyStation
import SystemPackage
import Testing

@Suite struct RecordTests {
    @Test func `Shows and forgets what arrived`() async throws {
        let station = StationFixture()
        try await fill(station)
        _ = try await station.send(.get, "/nowhere")

        let response = try await station.send(.get, "/record")
        #expect(response.status == .ok)
        let record: StationRecord = try response.json()
        #expect(record == station.record)
        #expect(record.schema == "stormy-station.record/1")
        #expect(record.forecasts.count == 1)
        #expect(record.notifications.count == 1)
        #expect(record.refused == 1)
        #expect(String(buffer: response.body).contains(#""at":"2026-11-21T14:25:30.000Z""#))

        #expect(try await station.send(.delete, "/record").status == .noContent)
        #expect(station.record == StationRecord())
    }

    @Test func `Counts what it has no room for`() async throws {
        let station = StationFixture(recorder: Recorder(entriesMax: 1))
        try await fill(station)
        try await fill(station)
        #expect(station.record.entryCount == 1)
        #expect(station.record.unrecorded == 3)
    }

    /// A key that came before the record was full is still known.
    @Test func `Knows keys when it is full`() async throws {
        let station = StationFixture(recorder: Recorder(entriesMax: 1))
        for _ in 0..<3 {
            let response = try await station.send(
                .post,
                "/t",
                fields: ["Idempotency-Key": "k"],
                body: Array("m".utf8)
            )
            #expect(response.status == .ok)
        }
        #expect(station.record.notifications.map(\.repeats) == [2])
        #expect(station.record.unrecorded == 0)
    }

    @Test func `Cuts user agents`() async throws {
        let station = StationFixture()
        _ = try await station.send(
            .get,
            "/v1/forecast?latitude=1&longitude=1",
            fields: ["User-Agent": String(repeating: "u", count: 5000)]
        )
        #expect(station.record.forecasts.first?.userAgent?.count == 200)
    }

    @Test func `Writes a line for each entry`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("record.ndjson")
        let station = StationFixture(recorder: Recorder(file: try RecordFile(path: path)))
        try await fill(station)
        let lines = try String(decoding: File.read(path), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""kind":"forecast""#) == true)
        #expect(lines.last?.contains(#""kind":"notification""#) == true)
        #expect(lines.last?.contains(#""message":"m""#) == true)
    }

    @Test func `Stops writing at the bound`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("record.ndjson")
        let file = try RecordFile(path: path, bytesMax: 1)
        let station = StationFixture(recorder: Recorder(file: file))
        try await fill(station)
        try await fill(station)
        #expect(try File.read(path).count { $0 == UInt8(ascii: "\n") } == 1)
    }

    @Test func `Says why a file cannot be written`() throws {
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try RecordFile(path: "/nowhere/record.ndjson")
        }
    }

    private func fill(_ station: StationFixture) async throws {
        _ = try await station.send(.get, "/v1/forecast?latitude=1&longitude=1")
        _ = try await station.send(.post, "/t", body: Array("m".utf8))
    }
}
