// SPDX-License-Identifier: Apache-2.0

/// A signature of a file, in the format that `minisign` writes beside the file.
package struct MinisignSignature: Equatable, Sendable {
    /// The number of the key that made the signature.
    package let number: [UInt8]
    package let signature: [UInt8]
    /// The trusted comment, which `commentSignature` signs.
    let comment: String
    package let commentSignature: [UInt8]

    /// The suffix that the signature's file adds to the name of the signed file.
    package static let suffix = ".minisig"
    /// The maximum size of a signature's file, bytes.
    package static let bytesMax = 16 << 10
    private static let commentMark = "trusted comment: "
    private static let signatureBytes = 64

    package init(
        number: [UInt8],
        signature: [UInt8],
        comment: String,
        commentSignature: [UInt8]
    ) {
        self.number = number
        self.signature = signature
        self.comment = comment
        self.commentSignature = commentSignature
    }

    /// Parses the text of a signature's file.
    package init(_ text: String) throws(TrustError) {
        // Split by bytes, as minisign does: to Swift, "\r\n" is one character and not a line end.
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard lines.count == 4 || lines.count == 5 && lines[4].isEmpty,
            lines[0].hasPrefix("untrusted comment: "), lines[2].hasPrefix(Self.commentMark),
            let first = Base64.decode(lines[1]),
            first.count == 2 + MinisignPublicKey.numberBytes + Self.signatureBytes,
            let second = Base64.decode(lines[3]), second.count == Self.signatureBytes
        else { throw TrustError("its signature is not in minisign's format") }
        guard !first.starts(with: Array("ED".utf8)) else {
            throw TrustError(
                "its signature is one of the file's BLAKE2 hash; sign the file itself, with"
                    + " `bghost plugin sign` or `minisign -S -l`"
            )
        }
        guard first.starts(with: MinisignPublicKey.algorithm) else {
            throw TrustError("its signature is of a kind that is not known")
        }
        number = Array(first[2..<10])
        signature = Array(first[10...])
        comment = String(lines[2].dropFirst(Self.commentMark.count))
        commentSignature = second
    }

    /// The text of its file.
    package var text: String {
        let first = Base64.encode(MinisignPublicKey.algorithm + number + signature)
        return "untrusted comment: signature from bghost\n\(first)\n"
            + "\(Self.commentMark)\(comment)\n\(Base64.encode(commentSignature))\n"
    }

    /// Checks that a signer signed a message.
    ///
    /// - Parameters:
    ///   - message: the signed bytes.
    ///   - key: the signer's public key.
    ///   - signer: the name of the signer, for messages.
    ///   - verify: verifies a signature of a message by a key; the cryptography is not part of this
    ///     module.
    package func check(
        _ message: [UInt8],
        by key: MinisignPublicKey,
        signer: String,
        verify: (_ signature: [UInt8], _ message: [UInt8]) -> Bool
    ) throws(TrustError) {
        guard number == key.number else {
            throw TrustError(
                "it is signed with key \(MinisignPublicKey.name(of: number)), and not by"
                    + " `\(signer)`, whose key is \(key.name)"
            )
        }
        guard verify(signature, message) else {
            throw TrustError(
                "it is not what `\(signer)` signed: the file or its signature was changed"
            )
        }
        guard verify(commentSignature, signature + Array(comment.utf8)) else {
            throw TrustError("the trusted comment of its signature was changed")
        }
    }
}
