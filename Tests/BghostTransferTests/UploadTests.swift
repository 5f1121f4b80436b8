// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostCrypto
@testable import BghostTransfer
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UploadTests {
    private static let digestField = HTTPField.Name("Repr-Digest")

    /// Hashes the body as it arrives and says whether length and digest are as the head declared.
    private static func verify(_ request: Request) async throws -> Response {
        var hash = SHA256()
        var count = 0
        for try await buffer in request.body {
            count += buffer.readableBytes
            buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        }
        let hex = hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        let declared = digestField.flatMap { request.headers[$0] }.map(hexOfDigest) ?? "none"
        let length = request.headers[.contentLength] ?? "none"
        let seen = "\(length) \(count) \(declared == hex.joined() ? "intact" : declared)"
        return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: seen)))
    }

    /// Decodes `sha-256=:BASE64:` independently of the code under test.
    private static func hexOfDigest(_ field: String) -> String {
        guard field.hasPrefix("sha-256=:"), field.hasSuffix(":") else { return "malformed" }
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let bits = field.dropFirst(9).dropLast().filter { $0 != "=" }.map { character in
            let value = alphabet.firstIndex(of: character) ?? 0
            return String(repeating: "0", count: 6 - String(value, radix: 2).count)
                + String(value, radix: 2)
        }.joined()
        let nibbles = Array(bits)
        return stride(from: 0, to: 256, by: 4).map { start in
            String(Int(String(nibbles[start..<start + 4]), radix: 2) ?? 0, radix: 16)
        }.joined()
    }

    private static func open(_ path: String) throws -> UploadFile {
        try UploadFile(owning: Glibc.open(path, O_RDONLY | O_CLOEXEC))
    }

    @Test(arguments: [0, 1, 2, 3, 1000])
    func `The server can verify the digest of bytes`(count: Int) async throws {
        try await withServer(Self.verify) { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "PUT",
                body: .bytes((0..<count).map { UInt8(truncatingIfNeeded: $0) }),
                sendsDigest: true
            )
            #expect(text(response) == "\(count) \(count) intact")
        }
    }

    @Test func `A digest is sent only if requested`() async throws {
        try await withServer(Self.verify) { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "PUT",
                body: .bytes([1])
            )
            #expect(text(response) == "1 1 none")
        }
    }

    @Test(arguments: [0, 5 << 20, (5 << 20) + 1])
    func `A file arrives whole`(size: Int) async throws {
        let folder = try TemporaryDirectory()
        let content = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }
        let file = try Self.open(folder.write(content, to: "photo"))
        #expect(file.size == size)
        try await withServer(Self.verify) { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "PUT",
                body: .file(file),
                sendsDigest: true
            )
            #expect(text(response) == "\(size) \(size) intact")
        }
    }

    @Test func `A file is read again for a redirect that repeats it`() async throws {
        let folder = try TemporaryDirectory()
        let size = 300_000
        let file = try Self.open(folder.write(Array(repeating: 9, count: size), to: "photo"))
        try await withServer { request in
            let verified = try await Self.verify(request)
            guard request.uri.path == "/" else { return verified }
            return Response(status: .permanentRedirect, headers: [.location: "/moved"])
        } test: { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "PUT",
                body: .file(file),
                sendsDigest: true
            )
            #expect(text(response) == "\(size) \(size) intact")
        }
    }

    @Test func `A file that changes between digest and upload is not sent whole`() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Array(repeating: 1, count: 1000), to: "photo")
        let file = try Self.open(path)
        let questions = Mutex(0)
        try await withServer(Self.verify) { port in
            await #expect(throws: FetchFailure.fileChanged) {
                try await fetch(
                    "http://127.0.0.1:\(port)/",
                    method: "PUT",
                    body: .file(file),
                    sendsDigest: true
                ) { _, _ in
                    // The permission is asked for before the digest and again before the upload.
                    if questions.withLock({
                        $0 += 1; return $0
                    }) == 2 {
                        #expect(truncate(path, 1001) == 0)
                    }
                    return true
                }
            }
        }
        #expect(questions.withLock { $0 } == 2)
    }

    /// Also shows that a file is read only as fast as it is taken: one read ahead would not be
    /// seen to change.
    @Test(arguments: [1 << 20, 65 << 20])
    func `A file that changes during the upload is not sent whole`(newSize: Int) async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write([], to: "photo")
        #expect(truncate(path, 64 << 20) == 0)
        let file = try Self.open(path)
        let received = Mutex(0)
        try await withServer { request in
            #expect(truncate(path, newSize) == 0)
            for try await buffer in request.body {
                received.withLock { $0 += buffer.readableBytes }
            }
            return Response(status: .ok)
        } test: { port in
            await #expect(throws: FetchFailure.fileChanged) {
                try await fetch("http://127.0.0.1:\(port)/", method: "PUT", body: .file(file))
            }
        }
        #expect(received.withLock { $0 } < 64 << 20)
    }

    @Test func `An early response ends the upload`() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write([], to: "photo")
        #expect(truncate(path, 64 << 20) == 0)
        let file = try Self.open(path)
        try await withServer { _ in
            Response(
                status: .contentTooLarge,
                body: .init(byteBuffer: ByteBuffer(string: "no"))
            )
        } test: { port in
            let response = try await fetch(
                "http://127.0.0.1:\(port)/",
                method: "PUT",
                body: .file(file)
            )
            #expect(response.status == 413)
            #expect(text(response) == "no")
        }
    }

    @Test func `Only a regular file can be a body`() throws {
        #expect(throws: FetchFailure.badFile(reason: "it is not a regular file")) {
            try Self.open("/dev/zero")
        }
        #expect(throws: FetchFailure.badFile(reason: "Bad file descriptor")) {
            try UploadFile(owning: -1)
        }
    }
}
