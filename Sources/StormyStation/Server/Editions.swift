// SPDX-License-Identifier: Apache-2.0
import SampleDigests
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The last forecasts by entity tag, so that the rest of a response belongs to the same forecast.
final class Editions: Sendable {
    static let max = 16

    /// The part of an edition that is sent.
    struct Part {
        var headers: HTTPFields
        var bytes: ByteBuffer
        /// The offset of the part in the whole, bytes.
        var from: Int
        /// The length of the whole, bytes.
        var whole: Int
    }

    private struct Edition {
        var tag: String
        var bytes: ByteBuffer
        var digest: String
    }

    private let last = Mutex<[Edition]>([])

    /// The rest of an edition if the request asks for it, otherwise a new edition.
    func part(for request: Request, new: () throws -> ByteBuffer) rethrows -> Part {
        if let part = rest(for: request) { return part }
        let bytes = try new()
        let hash = SHA256.hash(data: bytes.readableBytesView)
        let edition = Edition(
            tag: "\"\(hexadecimal(hash.prefix(16)))\"",
            bytes: bytes,
            digest: "sha-256=:\(Data(hash).base64EncodedString()):"
        )
        last.withLock { $0 = $0.filter { $0.tag != edition.tag }.suffix(Self.max - 1) + [edition] }
        return part(of: edition, from: 0)
    }

    /// Supports only `bytes=N-` with an `If-Range`; other requests get the whole.
    private func rest(for request: Request) -> Part? {
        guard let tag = request.headers[.ifRange], let range = request.headers[.range],
            range.hasPrefix("bytes="), range.hasSuffix("-"),
            let from = Int(range.dropFirst(6).dropLast()),
            let edition = last.withLock({ $0.first { $0.tag == tag } }),
            (1..<edition.bytes.readableBytes).contains(from)
        else { return nil }
        return part(of: edition, from: from)
    }

    private func part(of edition: Edition, from: Int) -> Part {
        let whole = edition.bytes.readableBytes
        var headers: HTTPFields = [
            .contentType: "application/json; charset=utf-8",
            .eTag: edition.tag,
            .acceptRanges: "bytes",
            .reprDigest: edition.digest,
        ]
        if from > 0 { headers[.contentRange] = "bytes \(from)-\(whole - 1)/\(whole)" }
        var bytes = edition.bytes
        bytes.moveReaderIndex(forwardBy: from)
        return Part(headers: headers, bytes: bytes, from: from, whole: whole)
    }
}
