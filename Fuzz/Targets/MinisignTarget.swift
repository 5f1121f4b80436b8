// SPDX-License-Identifier: Apache-2.0

import BghostBase

extension FuzzTarget {
    /// A public key, a secret key or a signature of minisign; `trust` has the mathematics to it.
    static let minisign = FuzzTarget("minisign", bytesMax: MinisignSignature.bytesMax) {
        bytes throws(BrokenProperty) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let key = try parse({ () throws(TrustError) in try MinisignPublicKey(text) }) {
            try check(key)
        }
        if let file = try parse({ () throws(TrustError) in try MinisignSecretFile(text) }) {
            try require(file.seed.count == 32, "a seed of \(file.seed.count) bytes")
            try check(file.publicKey)
        }
        if let signature = try parse({ () throws(TrustError) in try MinisignSignature(text) }) {
            try check(signature, text)
        }
    }

    private static func check(_ key: MinisignPublicKey) throws(BrokenProperty) {
        try require(key.number.count == 8 && key.key.count == 32, "\(key.line) has other parts")
        try require(UInt64(key.name, radix: 16) != nil, "a key is called \(key.name)")
        try require((try? MinisignPublicKey(key.line)) == key, "\(key.line) is another key")
    }

    private static func check(
        _ signature: MinisignSignature,
        _ text: String
    ) throws(BrokenProperty) {
        try require(
            (try? MinisignSignature(signature.text)) == signature,
            "the signature is written as another one"
        )
        // What is verified is what the file says, byte by byte: no other comment is shown.
        let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
        let comment = Array(lines[2].dropFirst("trusted comment: ".utf8.count))
        let expected = [
            [signature.signature, message],
            [signature.commentSignature, signature.signature + comment],
        ]
        for refused in 0...expected.count {
            var seen: [[[UInt8]]] = []
            let key = MinisignPublicKey(number: signature.number, key: [])
            let isBelieved = try isBelieved(signature, key) { signature, message in
                seen.append([signature, message])
                return seen.count - 1 != refused
            }
            try require(isBelieved == (refused == expected.count), "half of it is believed")
            try require(seen == Array(expected.prefix(refused + 1)), "something else is verified")
        }
        let other = MinisignPublicKey(number: signature.number.map { ~$0 }, key: [])
        let isBelieved = try isBelieved(signature, other) { _, _ in true }
        try require(!isBelieved, "a key is taken for another one")
    }

    private static func isBelieved(
        _ signature: MinisignSignature,
        _ key: MinisignPublicKey,
        _ verify: ([UInt8], [UInt8]) -> Bool
    ) throws(BrokenProperty) -> Bool {
        let done: Bool? = try parse { () throws(TrustError) in
            try signature.check(message, by: key, signer: "fuzz", verify: verify)
            return true
        }
        return done ?? false
    }

    private static let message = Array("bghost".utf8)

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
