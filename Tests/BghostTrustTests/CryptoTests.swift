// SPDX-License-Identifier: Apache-2.0

import BghostCrypto
import Testing

/// The examples of the standards.
///
/// BoringSSL's functions are no API of NIOSSL, so an update could change what `BghostCrypto` relies on.
struct CryptoTests {
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    @Test func `Hashes are those of FIPS 180-4`() {
        #expect(
            Self.hex(SHA256.hash(data: Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            Self.hex(SHA256.hash(data: []))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            Self.hex(SHA512.hash(data: Array("abc".utf8)))
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
    }

    @Test func `A hash does not depend on the pieces, and can be read midway`() {
        let text = Array("The quick brown fox jumps over the lazy dog".utf8)
        var pieces = SHA256()
        for byte in text {
            _ = pieces.finalize()
            pieces.update(data: [byte])
        }
        #expect(pieces.finalize() == SHA256.hash(data: text))
        #expect(pieces.finalize() == SHA256.hash(data: text))
    }

    /// RFC 8032, section 7.1, test 2.
    @Test func `Signatures are those of RFC 8032`() throws {
        let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
        let key = try #require(Ed25519.SecretKey(seed: Self.bytes(seed)))
        #expect(
            Self.hex(key.publicKey)
                == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
        )
        var signature = try #require(key.signature(of: [0x72]))
        #expect(
            Self.hex(signature)
                == "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        #expect(Ed25519.isSignature(signature, of: [0x72], by: key.publicKey))
        #expect(!Ed25519.isSignature(signature, of: [0x73], by: key.publicKey))
        signature[0] ^= 1
        #expect(!Ed25519.isSignature(signature, of: [0x72], by: key.publicKey))
    }

    @Test func `Keys and signatures of another length are refused`() throws {
        #expect(Ed25519.SecretKey(seed: [1, 2]) == nil)
        let key = try #require(Ed25519.SecretKey(seed: [UInt8](repeating: 1, count: 32)))
        let signature = try #require(key.signature(of: []))
        #expect(Ed25519.isSignature(signature, of: [], by: key.publicKey))
        #expect(!Ed25519.isSignature(Array(signature.dropLast()), of: [], by: key.publicKey))
        #expect(!Ed25519.isSignature(signature, of: [], by: Array(key.publicKey.dropLast())))
    }
}
