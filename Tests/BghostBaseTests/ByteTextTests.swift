// SPDX-License-Identifier: Apache-2.0

import BghostBase
import Testing

/// Texts of bytes, and texts that are cut by them.
@Suite struct ByteTextTests {
    @Test func `A prefix of bytes ends with a whole scalar`() {
        let text = "aé€😀b"
        let prefixes = (0...11).map { text.prefix(bytes: $0) }
        #expect(
            prefixes == [
                "", "a", "a", "aé", "aé", "aé", "aé€", "aé€", "aé€", "aé€", "aé€😀", "aé€😀b",
            ]
        )
        #expect(text.prefix(bytes: -1).isEmpty && text.prefix(bytes: .max) == text)
        // A mark is a scalar of its own.
        #expect("e\u{301}".prefix(bytes: 1) == "e")
    }

    @Test func `A shortened text has an ellipsis and not more bytes`() {
        #expect("abcdef".shortened(toBytes: 6) == "abcdef")
        #expect("abcdefg".shortened(toBytes: 6) == "abc…")
        #expect("ab€defg".shortened(toBytes: 7) == "ab…")
    }

    @Test func `Bytes are lowercase hexadecimal digits`() {
        #expect([0, 9, 10, 0xAB, 255].map { UInt8($0) }.hexText == "00090aabff")
        #expect([UInt8]().hexText.isEmpty)
    }

    @Test func `All but unreserved characters are percent-encoded`() {
        #expect(PercentText.encoded("aZ09-._~ /é%") == "aZ09-._~%20%2F%C3%A9%25")
        #expect(PercentText.encoded("../~", keepsDots: false) == "%2E%2E%2F%7E")
    }
}
