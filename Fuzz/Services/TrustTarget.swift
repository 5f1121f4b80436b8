// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFuzz
import BghostTrust

extension FuzzTarget {
    /// A public key, a secret key or a signature of minisign.
    static let trust = FuzzTarget("trust", bytesMax: MinisignSignature.bytesMax) {
        bytes throws(BrokenProperty) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = try parse({ () throws(TrustError) in try MinisignPublicKey(text) }) {
            let again = try? MinisignPublicKey(key.line)
            try require(again == key, "\(key.line) is another key")
        }
        if let key = try parse({ () throws(TrustError) in try MinisignSecretKey(text) }) {
            let signature = try? key.sign(message, comment: "fuzz")
            try require(isBelieved(signature, key.publicKey), "what it signs is not believed")
        }
        if let signature = try parse({ () throws(TrustError) in try MinisignSignature(text) }) {
            let again = try? MinisignSignature(signature.text)
            try require(again == signature, "the signature is written as another one")
            try require(
                !isBelieved(signature, signer) || lines(text) == genuineLines,
                "a signature without a signer is accepted"
            )
        }
    }

    private static let message = Array("bghost".utf8)
    /// The public half of a key that was thrown away, and what it signed.
    private static let signer = try? MinisignPublicKey(
        "RWTdAdqEAAfArQuUfFde+MszKzXXgFdZyGuZ8UTSpcyev3R9V4oWUSVY"
    )
    private static let genuineLines = [
        "RWTdAdqEAAfArVr2p5UF4mNLaxn1RP1xzPnk1JsyrtS3sBPTu9ufI2eR2F2Pb6VZKjIOfMccOid5gG6nIGVHV/oQBFUJ1A2unQo=",
        "trusted comment: fuzz",
        "2iJL0ta0JTzy45p8hDJAee7wbInQhyAj4KiKdfC9uh6pTDpx02QCgiEfDjiw05WCfAeDRG3SU5dk2MQcgQL0DQ==",
    ]

    /// All that is signed, or signs: the comment before it is anybody's.
    private static func lines(_ text: String) -> [String] {
        text.utf8.split(separator: 10).dropFirst().map { String(Substring($0)) }
    }

    private static func isBelieved(_ signature: MinisignSignature?, _ key: MinisignPublicKey?)
        -> Bool
    {
        guard let signature, let key else { return false }
        return (try? signature.check(message, by: key, signer: "fuzz")) != nil
    }

    private static func parse<Value>(
        _ read: () throws(TrustError) -> Value
    ) throws(BrokenProperty) -> Value? {
        do throws(TrustError) {
            return try read()
        } catch {
            try MessageText.check(error.description)
            return nil
        }
    }
}
