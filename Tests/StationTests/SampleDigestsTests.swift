// SPDX-License-Identifier: Apache-2.0

import SampleDigests
import StormyStation
import Testing

struct SampleDigestsTests {
    @Test func `Hashes are those of FIPS 180-4`() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(hexadecimal(SHA256.hash(data: Array("abc".utf8))) == expected)
        var pieces = SHA256()
        for byte in "abc".utf8 {
            _ = pieces.finalize()
            pieces.update(data: [byte])
        }
        #expect(hexadecimal(pieces.finalize()) == expected)
    }

    /// Tests 2 and 6; the second secret is longer than a block.
    @Test(arguments: [
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ]) func `Codes are those of RFC 4231`(
        secret: [UInt8],
        message: String,
        expected: String
    ) {
        let code = SHA256.authenticationCode(for: Array(message.utf8), secret: secret)
        #expect(hexadecimal(code) == expected)
    }
}
