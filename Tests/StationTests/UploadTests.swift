// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import HTTPTypes
import HummingbirdTesting
import NIOCore
import StormyStation
import Testing

/// tus 1.0.0, by the words of its specification.
@Suite(.timeLimit(.minutes(5))) struct UploadTests {
    private let station = StationFixture()

    private func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        _ fields: [String: String] = [:],
        _ body: [UInt8]? = nil
    ) async throws -> TestResponse {
        let all = fields.merging(["Tus-Resumable": "1.0.0"]) { own, _ in own }
        return try await station.send(method, uri, fields: all, body: body)
    }

    private func create(
        length: Int = 3,
        name: String = "c3Rvcm0uanBn",
        digest: String = PhotoTests.base64
    ) async throws -> TestResponse {
        try await send(
            .post,
            "/photos",
            [
                "Upload-Length": "\(length)", "Repr-Digest": "sha-256=:\(digest):",
                "Upload-Metadata": "filetype aW1hZ2UvanBlZw==,filename \(name)",
            ]
        )
    }

    private func append(_ bytes: String, at offset: Int, to uri: String = "/uploads/1")
        async throws -> TestResponse
    {
        try await send(
            .patch,
            uri,
            [
                "Upload-Offset": "\(offset)", "Content-Type": "application/offset+octet-stream",
                "User-Agent": "up/1",
            ],
            Array(bytes.utf8)
        )
    }

    private func field(_ name: String, of response: TestResponse) throws -> String? {
        response.headers[try #require(HTTPField.Name(name))]
    }

    private func offset() async throws -> String? {
        try field("Upload-Offset", of: await send(.head, "/uploads/1"))
    }

    @Test func `Says what it speaks`() async throws {
        let response = try await station.send(.options, "/photos")
        #expect(response.status == .noContent)
        #expect(try field("Tus-Version", of: response) == "1.0.0")
        #expect(try field("Tus-Extension", of: response) == "creation")
    }

    @Test func `Takes a photo in pieces`() async throws {
        let created = try await create()
        #expect(created.status == .created)
        #expect(created.headers[.location] == "/uploads/1")
        #expect(try await offset() == "0")
        #expect(try field("Upload-Offset", of: await append("a", at: 0)) == "1")
        #expect(try await offset() == "1")
        #expect(station.record.photos.isEmpty)
        let last = try await append("bc", at: 1)
        #expect(last.status == .noContent)
        #expect(try field("Upload-Offset", of: last) == "3")
        let entry = PhotoEntry(
            at: StationFixture.now,
            name: "storm.jpg",
            bytes: 3,
            sha256: PhotoTests.hex,
            verified: true,
            userAgent: "up/1",
            pieces: [1, 2]
        )
        #expect(station.record.photos == [entry])
        // A client that missed the last answer asks for the offset, and sends nothing again.
        #expect(try await offset() == "3")
        #expect(try await append("", at: 3).status == .noContent)
        #expect(station.record.photos == [entry])
        #expect(station.record.refused == 0)
    }

    @Test func `Takes bytes only where it stands`() async throws {
        _ = try await create()
        _ = try await append("a", at: 0)
        for wrong in [0, 2, 3, -1] {
            #expect(try await append("a", at: wrong).status == .conflict)
        }
        #expect(try await append("bcd", at: 1).status == .contentTooLarge)
        #expect(try await offset() == "1")
        #expect(try await append("bc", at: 1).status == .noContent)
        #expect(station.record.photos.map(\.pieces) == [[1, 2]])
    }

    @Test func `Refuses a whole that is not what its digest says`() async throws {
        _ = try await create(digest: PhotoTests.emptyBase64)
        #expect(try await append("abc", at: 0).status == .unprocessableContent)
        #expect(station.record.photos.map(\.verified) == [false])
        // Else it would look as if the photo were there.
        #expect(try await send(.head, "/uploads/1").status == .notFound)
    }

    @Test(arguments: [
        (["Upload-Length": "x"], 400), (["Upload-Length": "-1"], 400),
        (["Upload-Length": "16777217"], 413), (["Repr-Digest": "sha-256"], 400),
        (["Upload-Metadata": "filename Li4="], 400),
        (["Upload-Metadata": "name c3Rvcm0uanBn"], 400),
        (["Tus-Resumable": "0.2.2"], 412),
    ])
    func `Makes no place for what it cannot take`(fields: [String: String], status: Int)
        async throws
    {
        let good = [
            "Upload-Length": "3", "Repr-Digest": "sha-256=:\(PhotoTests.base64):",
            "Upload-Metadata": "filename c3Rvcm0uanBn",
        ]
        let response = try await send(.post, "/photos", good.merging(fields) { $1 })
        #expect(response.status.code == status)
        #expect(station.record.refused == 1)
    }

    @Test func `Does not know what it has not made`() async throws {
        #expect(try await send(.head, "/uploads/1").status == .notFound)
        #expect(try await append("a", at: 0).status == .notFound)
        #expect(try await station.send(.head, "/uploads/1").status == .preconditionFailed)
    }

    /// The station keeps the bytes before the cut, and the client resumes there.
    @Test func `Keeps what came before a cut`() async throws {
        _ = try await create()
        station.mishaps.plan(.cut, at: .photo)
        let isAnswered = try await station.test(.live) { client in
            var headers = HTTPFields()
            headers[.contentType] = "application/offset+octet-stream"
            headers[try #require(HTTPField.Name("Tus-Resumable"))] = "1.0.0"
            headers[try #require(HTTPField.Name("Upload-Offset"))] = "0"
            let body = ByteBuffer(string: "abc")
            let answer = try? await client.execute(
                uri: "/uploads/1",
                method: .patch,
                headers: headers,
                body: body
            )
            return answer != nil
        }
        #expect(!isAnswered)
        #expect(try await offset() == "1")
        #expect(try await append("bc", at: 1).status == .noContent)
        #expect(station.record.photos.map(\.pieces) == [[1, 2]])
        #expect(station.record.photos.map(\.verified) == [true])
        #expect(station.record.refused == 0)
    }
}
