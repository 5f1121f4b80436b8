// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTrust

/// A public key that an operator trusts, and where it comes from.
package struct TrustedKey: Equatable, Sendable {
    /// The name for messages: that of the manifest's signer, or the file of the key.
    package let name: String
    package let key: MinisignPublicKey

    package init(name: String, key: MinisignPublicKey) {
        self.name = name
        self.key = key
    }
}

/// Who signed a bundle, as far as the trusted keys tell.
package enum BundleSignature: Equatable, Sendable {
    /// It has no signature.
    case unsigned
    /// It is what the owner of this key signed.
    case signed(by: TrustedKey)
    /// It has a signature of a key that is not among the trusted ones: whether it is right is unknown.
    case unknownKey(number: String)
    /// It names a trusted key, whose owner did not sign this content; the text says what is wrong.
    case tampered(String)

    /// A word for scripts.
    package var word: String {
        switch self {
        case .unsigned: "unsigned"
        case .signed: "signed"
        case .unknownKey: "unknownKey"
        case .tampered: "tampered"
        }
    }
}

extension Bundle {
    /// Checks the signature with the keys that are trusted.
    package func verify(_ keys: [TrustedKey]) -> BundleSignature {
        guard let signature else { return .unsigned }
        // The number is no secret, so keys of other owners may have the same one.
        let candidates = keys.filter { $0.key.number == signature.number }
        guard let first = candidates.first else {
            return .unknownKey(
                number: MinisignPublicKey(number: signature.number, key: []).name
            )
        }
        var problem = ""
        for candidate in [first] + candidates.dropFirst() {
            do throws(TrustError) {
                try signature.check(list.bytes, by: candidate.key, signer: candidate.name)
                return .signed(by: candidate)
            } catch {
                problem = error.description
            }
        }
        return .tampered(problem)
    }

    /// The same bundle without its signature.
    package var unsigned: BundleDraft { BundleDraft(self, signature: nil) }

    /// Signs the list of its members.
    ///
    /// The same key makes the same signature of the same content.
    package func signed(by key: MinisignSecretKey) throws(BundleError) -> BundleDraft {
        do throws(TrustError) {
            let comment = "bundle:\(description.name) version:\(description.version)"
            return BundleDraft(self, signature: try key.sign(list.bytes, comment: comment))
        } catch {
            throw BundleError(error.description, fix: "try again")
        }
    }
}
