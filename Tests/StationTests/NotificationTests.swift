// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import HummingbirdTesting
import StormyStation
import Testing

@Suite struct NotificationTests {
    struct Receipt: Decodable, Equatable {
        var id: String
        var time: Int
        var expires: Int
        var event: String
        var topic: String
        var title: String?
        var message: String
        var priority: Int?
        var tags: [String]?
    }

    struct Refusal: Decodable {
        var code: Int
        var http: Int
        var error: String
    }

    static let storm = """
        {"topic":"storm","title":"Gewitter ⚡","message":"um 15 Uhr","priority":4,"tags":["zap"],
        "click":"https://example.com/"}
        """

    @Test func `A notification in JSON is published`() async throws {
        let station = StationFixture()
        let response = try await publish(station, Self.storm, key: "k1")
        #expect(response.status == .ok)
        let receipt: Receipt = try response.json()
        #expect(receipt.id.count == 12)
        #expect(receipt.time == 1_795_271_130)
        #expect(receipt.expires == receipt.time + 12 * 3600)
        #expect(receipt.event == "message")
        #expect(receipt.topic == "storm")
        #expect(receipt.title == "Gewitter ⚡")
        #expect(receipt.message == "um 15 Uhr")
        #expect(receipt.priority == 4)
        #expect(receipt.tags == ["zap"])

        let entry = try #require(station.record.notifications.first)
        #expect(entry.id == receipt.id)
        #expect(entry.title == "Gewitter ⚡")
        #expect(entry.idempotencyKey == "k1")
        #expect(entry.repeats == 0)
    }

    /// A topic may bear the name of another route.
    @Test(arguments: ["storm", "photos", "record", "uploads", "mishaps", "v1", "A-b_9"])
    func `A notification in plain text is published`(topic: String) async throws {
        let station = StationFixture()
        let response = try await station.send(
            .post,
            "/\(topic)",
            fields: ["X-Title": "Photo", "Priority": "high", "Tags": "camera, ok"],
            body: Array("has arrived".utf8)
        )
        #expect(response.status == .ok)
        let entry = try #require(station.record.notifications.first)
        #expect(entry.topic == topic)
        #expect(entry.title == "Photo")
        #expect(entry.message == "has arrived")
        #expect(entry.priority == 4)
        #expect(entry.tags == ["camera", "ok"])
    }

    @Test(arguments: [
        ("1", 1), ("min", 1), ("low", 2), ("default", 3), ("3", 3), ("HIGH", 4), ("urgent", 5),
        ("max", 5),
    ])
    func `Priorities are read as numbers and names`(text: String, priority: Int) async throws {
        let station = StationFixture()
        _ = try await station.send(.post, "/t", fields: ["X-Priority": text], body: [])
        #expect(station.record.notifications.map(\.priority) == [priority])
        #expect(station.record.notifications.map(\.message) == ["triggered"])
    }

    @Test func `Answers a repeated key with the first answer`() async throws {
        let station = StationFixture()
        let first: Receipt = try await publish(station, Self.storm, key: "k1").json()
        let again: Receipt = try await publish(station, Self.storm, key: "k1").json()
        let other: Receipt = try await publish(station, Self.storm, key: "k2").json()
        let without: Receipt = try await publish(station, Self.storm, key: nil).json()
        #expect(again == first)
        #expect(Set([first.id, other.id, without.id]).count == 3)
        #expect(station.record.notifications.map(\.repeats) == [1, 0, 0])
    }

    @Test func `Refuses a key with another message`() async throws {
        let station = StationFixture()
        _ = try await publish(station, Self.storm, key: "k1")
        let response = try await publish(station, #"{"topic":"storm","message":"x"}"#, key: "k1")
        #expect(response.status == .unprocessableContent)
        #expect(station.record.notifications.map(\.repeats) == [0])
    }

    @Test(arguments: [
        ("", 40024), ("[]", 40024), ("{\"topic\":3}", 40024), ("{\"topic\":\"a\"", 40024),
        ("{}", 40009), (#"{"topic":""}"#, 40009), (#"{"topic":"a b"}"#, 40009),
        (#"{"topic":"ü"}"#, 40009),
        (#"{"topic":"\#(String(repeating: "t", count: 65))"}"#, 40009),
        (#"{"topic":"t","priority":0}"#, 40007), (#"{"topic":"t","priority":6}"#, 40007),
        (#"{"topic":"t","message":"\#(String(repeating: "m", count: 4097))"}"#, 41301),
        (#"{"topic":"t","message":"\#(String(repeating: "m", count: 20_000))"}"#, 41303),
    ])
    func `Refusals have the words of ntfy`(body: String, code: Int) async throws {
        let station = StationFixture()
        let response = try await publish(station, body, key: nil)
        let refusal: Refusal = try response.json()
        #expect(refusal.code == code)
        #expect(refusal.http == response.status.code)
        #expect(response.status.code == code / 100)
        #expect(station.record.notifications.isEmpty)
        #expect(station.record.refused == 1)
    }

    @Test func `Refuses text that is not UTF-8`() async throws {
        let response = try await StationFixture().send(.post, "/t", body: [0x61, 0xFF])
        #expect(try response.json(Refusal.self).code == 40011)
    }

    private func publish(
        _ station: StationFixture,
        _ json: String,
        key: String?
    ) async throws -> TestResponse {
        try await station.send(
            .post,
            "/",
            fields: key.map { ["Idempotency-Key": $0] } ?? [:],
            body: Array(json.utf8)
        )
    }
}
