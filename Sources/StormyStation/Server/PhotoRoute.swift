// SPDX-License-Identifier: Apache-2.0
import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// `PUT /photos/{name}`: takes a photo in if it is what its digest says.
///
/// The bytes are counted and hashed as they come and not kept: the record says all that is asked of
/// the station.
struct PhotoRoute {
    static let bytesMax = 16 << 20
    static let nameBytesMax = 255

    let recorder: Recorder
    let now: @Sendable () -> Date

    struct Receipt: Encodable {
        var sha256: String
        var bytes: Int
    }

    /// - Parameter segment: the name as it stands in the path, percent-encoded.
    func put(_ request: Request, segment: String) async throws -> Response {
        guard let name = percentDecoded(segment), (1...Self.nameBytesMax).contains(name.utf8.count),
            name != ".", name != "..",
            name.unicodeScalars.allSatisfy({ $0 != "/" && $0.value >= 0x20 && $0.value != 0x7F })
        else {
            throw refusal(
                .badRequest,
                "a photo's name is one path segment without control characters"
            )
        }
        let digests = try digests(of: request)
        if let length = request.headers[.contentLength].flatMap(Int.init), length > Self.bytesMax {
            throw tooLarge
        }
        var hash = SHA256()
        var bytes = 0
        for try await buffer in request.body {
            bytes += buffer.readableBytes
            guard bytes <= Self.bytesMax else { throw tooLarge }
            buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        }
        let digest = hash.finalize()
        let entry = PhotoEntry(
            at: now(),
            name: name,
            bytes: bytes,
            sha256: hexadecimal(digest),
            verified: digests.match(digest),
            userAgent: request.userAgent
        )
        recorder.add(entry)
        guard entry.verified else {
            throw refusal(
                .unprocessableContent,
                "the digest does not match: \(bytes) bytes arrived with sha-256 \(entry.sha256)"
            )
        }
        return try .json(Receipt(sha256: entry.sha256, bytes: bytes), status: .created)
    }

    private func digests(of request: Request) throws(StationError) -> DigestFields {
        do {
            return try DigestFields(request.headers)
        } catch {
            switch error {
            case .missing:
                throw refusal(
                    .badRequest,
                    "send Repr-Digest or Content-Digest with sha-256=:<base64>:"
                )
            case .malformed(let field):
                throw refusal(
                    .badRequest,
                    "\(field) is malformed: it must read sha-256=:<base64>:"
                )
            }
        }
    }

    private var tooLarge: StationError {
        refusal(.contentTooLarge, "a photo may have at most \(Self.bytesMax) bytes")
    }

    private func refusal(_ status: HTTPResponse.Status, _ reason: String) -> StationError {
        StationError(status, .photos, reason)
    }
}

/// Bytes as lower-case hexadecimal.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}
