// SPDX-License-Identifier: Apache-2.0

internal import BghostCrypto
internal import BghostTransferRules
internal import NIOCore

/// The value of `Repr-Digest` (RFC 9530): the SHA-256 of a body, by which the receiver can verify
/// that the body is complete.
enum ReprDigest {
    static func value(of body: FetchBody) async throws -> String {
        var hash = SHA256()
        switch body {
        case .none, .path: break
        case .bytes(let bytes): bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        case .file(let file):
            for try await chunk in UploadChunks(file: file) {
                chunk.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            }
        }
        return ContentDigest(.sha256, Array(hash.finalize()))?.field ?? ""
    }
}
