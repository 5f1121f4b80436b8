// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import NIOCore

/// The value of `Repr-Digest` (RFC 9530): the SHA-256 of a body, by which its receiver can tell
/// that it has the whole of it.
enum ReprDigest {
    static func value(of body: FetchBody) async throws -> String {
        var hash = SHA256()
        switch body {
        case .none: break
        case .bytes(let bytes): bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        case .file(let file):
            for try await chunk in UploadChunks(file: file) {
                chunk.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            }
        }
        return "sha-256=:\(base64(Array(hash.finalize()))):"
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        )
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                let sextet = bits >> (18 - 6 * position) & 63
                text.append(position <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
