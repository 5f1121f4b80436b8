// SPDX-License-Identifier: Apache-2.0
import SampleDigests
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// A photo that is being received.
///
/// Its bytes are counted and hashed but not stored, because the record needs no more.
struct PhotoIntake: Sendable {
    static let bytesMax = 16 << 20
    private static let nameBytesMax = 255

    let name: String
    let digests: DigestFields
    /// The number of bytes of each request.
    private(set) var pieces: [Int] = []
    private var hash = SHA256()

    init(name: String?, _ headers: HTTPFields) throws(StationError) {
        guard let name, Self.isName(name) else {
            throw StationError(
                .badRequest,
                .photos,
                "a photo's name is one path segment without control characters"
            )
        }
        self.name = name
        digests = try Self.digests(in: headers)
    }

    var bytes: Int { pieces.reduce(0, +) }

    /// Starts counting the bytes of a further request.
    mutating func beginPiece() { pieces.append(0) }

    mutating func take(_ buffer: ByteBuffer) {
        pieces[pieces.count - 1] += buffer.readableBytes
        buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
    }

    /// Ends a request; a request without bytes is not counted.
    mutating func endPiece() {
        if pieces.last == 0, pieces.count > 1 { pieces.removeLast() }
    }

    func entry(at date: Date, userAgent: String?) -> PhotoEntry {
        let digest = hash.finalize()
        return PhotoEntry(
            at: date,
            name: name,
            bytes: bytes,
            sha256: hexadecimal(digest),
            verified: digests.match(digest),
            userAgent: userAgent,
            pieces: pieces
        )
    }

    static var tooLarge: StationError {
        StationError(.contentTooLarge, .photos, "a photo may have at most \(bytesMax) bytes")
    }

    static func wrongDigest(_ entry: PhotoEntry) -> StationError {
        StationError(
            .unprocessableContent,
            .photos,
            "the digest does not match: \(entry.bytes) bytes arrived with sha-256 \(entry.sha256)"
        )
    }

    private static func isName(_ name: String) -> Bool {
        (1...nameBytesMax).contains(name.utf8.count) && name != "." && name != ".."
            && name.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && $0.value != 0x7F }
    }

    private static func digests(in headers: HTTPFields) throws(StationError) -> DigestFields {
        do {
            return try DigestFields(headers)
        } catch {
            switch error {
            case .missing:
                throw StationError(
                    .badRequest,
                    .photos,
                    "send Repr-Digest or Content-Digest with sha-256=:<base64>:"
                )
            case .malformed(let field):
                throw StationError(
                    .badRequest,
                    .photos,
                    "\(field) is malformed: it must read sha-256=:<base64>:"
                )
            }
        }
    }
}

/// Formats bytes as lower-case hexadecimal digits.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}
