// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import StormyStation
import Testing

@Suite struct PhotoTests {
    static let bytes = Array("abc".utf8)
    // SHA-256 of "abc", from FIPS 180-2.
    static let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    static let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    static let emptyBase64 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    struct Receipt: Decodable {
        var sha256: String
        var bytes: Int
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest", "repr-digest"])
    func `Takes a photo with its digest`(field: String) async throws {
        let station = StationFixture()
        let response = try await station.send(
            .put,
            "/photos/storm.jpg",
            fields: [field: "sha-256=:\(Self.base64):", "User-Agent": "up/1"],
            body: Self.bytes
        )
        #expect(response.status == .created)
        let receipt: Receipt = try response.json()
        #expect(receipt.sha256 == Self.hex)
        #expect(receipt.bytes == 3)
        let entry = PhotoEntry(
            at: StationFixture.now,
            name: "storm.jpg",
            bytes: 3,
            sha256: Self.hex,
            verified: true,
            userAgent: "up/1"
        )
        #expect(station.record.photos == [entry])
    }

    @Test func `Refuses a photo that is not what its digest says`() async throws {
        let station = StationFixture()
        let response = try await station.send(
            .put,
            "/photos/storm.jpg",
            fields: ["Repr-Digest": "sha-256=:\(Self.emptyBase64):"],
            body: Self.bytes
        )
        #expect(response.status == .unprocessableContent)
        #expect(station.record.photos.map(\.verified) == [false])
        #expect(station.record.photos.map(\.sha256) == [Self.hex])
    }

    @Test func `Holds both fields against the photo`() async throws {
        let response = try await StationFixture().send(
            .put,
            "/photos/storm.jpg",
            fields: [
                "Repr-Digest": "sha-256=:\(Self.base64):",
                "Content-Digest": "sha-256=:\(Self.emptyBase64):",
            ],
            body: Self.bytes
        )
        #expect(response.status == .unprocessableContent)
    }

    @Test(arguments: [
        "sha-512=:AAAA:, sha-256=:\(base64):",
        "sha-256=:\(base64):,\tsha-512=:AAAA:",
        "sha-256=:\(base64):;note=1",
        "sha-256=:\(emptyBase64):, sha-256=:\(base64):",
    ])
    func `Reads the dictionary`(value: String) async throws {
        let response = try await StationFixture().send(
            .put,
            "/photos/a",
            fields: ["Repr-Digest": value],
            body: Self.bytes
        )
        #expect(response.status == .created)
    }

    @Test(arguments: [
        nil,
        "",
        "sha-256",
        "sha-256=",
        "sha-256=::",
        "sha-256=\(base64)",
        "sha-256=:\(base64)",
        "sha-256=:\(base64):x",
        "sha-256=:\(base64.dropLast(4)):",
        "sha-256=:*\(base64.dropFirst()):",
        "SHA-256=:\(base64):",
        "sha-512=:\(base64):",
    ])
    func `Refuses a digest that says nothing`(value: String?) async throws {
        let station = StationFixture()
        let response = try await station.send(
            .put,
            "/photos/a",
            fields: value.map { ["Repr-Digest": $0] } ?? [:],
            body: Self.bytes
        )
        #expect(response.status == .badRequest)
        #expect(station.record.photos.isEmpty)
        #expect(station.record.refused == 1)
    }

    @Test(arguments: [
        ("a%20b.jpg", "a b.jpg"), ("%C3%BC.png", "ü.png"), ("a+b", "a+b"),
        (String(repeating: "n", count: 255), String(repeating: "n", count: 255)),
    ])
    func `Valid names of photos are taken`(segment: String, name: String) async throws {
        let station = StationFixture()
        let response = try await put(station, segment)
        #expect(response.status == .created)
        #expect(station.record.photos.map(\.name) == [name])
    }

    @Test(arguments: [
        "a%2Fb", "%2E%2E", "..", "a%00b", "a%0Ab", "%FF", "%4", "%zz",
        String(repeating: "n", count: 256),
    ])
    func `Refuses names that are none`(segment: String) async throws {
        let station = StationFixture()
        let response = try await put(station, segment)
        #expect(response.status == .badRequest)
        #expect(station.record.photos.isEmpty)
    }

    private func put(_ station: StationFixture, _ segment: String) async throws -> TestResponse {
        try await station.send(
            .put,
            "/photos/\(segment)",
            fields: ["Repr-Digest": "sha-256=:\(Self.base64):"],
            body: Self.bytes
        )
    }

    /// One byte too many, in one piece with a length and in chunks without one.
    @Test(.timeLimit(.minutes(5)), arguments: [16 << 20, 16 << 20 + 1])
    func `Bounds the photo`(count: Int) async throws {
        let station = StationFixture()
        let status = try await station.test(.live) { client in
            var headers = HTTPFields()
            headers[try #require(HTTPField.Name("Repr-Digest"))] = "sha-256=:\(Self.base64):"
            let body = ByteBuffer(repeating: 7, count: count)
            return try await client.execute(
                uri: "/photos/big",
                method: .put,
                headers: headers,
                body: body
            ).status
        }
        // The digest is another one's, which is found out only once everything has arrived.
        let fits = count <= 16 << 20
        #expect(status == (fits ? .unprocessableContent : .contentTooLarge))
        #expect(station.record.photos.map(\.bytes) == (fits ? [count] : []))
    }
}
