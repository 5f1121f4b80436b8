// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTransferRules
import Testing

/// What servers write into the heads of their answers.
@Suite struct TransferTextTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ] as [(String, Int64)]
    )
    func `Reads a date`(text: String, seconds: Int64) {
        #expect(HTTPDate.unixSeconds(text) == seconds)
    }

    @Test(
        arguments: [
            "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Süß, 06 Nov 1994 08:49:3 GMT",
        ]
    )
    func `Refuses invalid dates`(text: String) {
        #expect(HTTPDate.unixSeconds(text) == nil)
    }

    @Test func `Content ranges are read`() throws {
        let part = try #require(ContentRange("bytes 2-5/9"))
        #expect(part.bytes == 2...5)
        #expect(part.total == 9)
        let open = try #require(ContentRange("Bytes 0-0/*"))
        #expect(open.bytes == 0...0)
        #expect(open.total == nil)
        let none = try #require(ContentRange("bytes */7"))
        #expect(none.bytes == nil)
        #expect(none.total == 7)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes 5-2/9", "bytes 0-9/9", "bytes -5/9", "bytes 0-/9", "bytes */*",
            "items 0-1/2", "bytes 0-1", "bytes 0-1/2/3", "bytes 0-1/ 2", "bytes +0-1/2",
            "bytes 0-99999999999999999999/*", "bytes 0 -1/2", "bytes 0-1/-2",
        ]
    )
    func `Refuses ranges that cannot be`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `A strong tag is a validator`() {
        #expect(validator(["etag": "\"a\""]) == .tag("\"a\""))
        #expect(validator(["etag": "\"\""]) == .tag("\"\""))
    }

    @Test(arguments: ["W/\"a\"", "a", "\"a", "\"a\"b\"", "\"a b\"", "\"a\u{0}\"", "\""])
    func `A tag that is not strong is none`(tag: String) {
        // Not even with a date beside it: the server says that it tells versions apart by the tag.
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(
            validator(["etag": tag, "last-modified": date, "date": "Mon, 07 Nov 1994 08:49:37 GMT"])
                == nil
        )
    }

    @Test func `A date counts once it is a minute old`() {
        let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
        func after(_ date: String?) -> Validator? {
            var fields = ["last-modified": changed]
            fields["date"] = date
            return validator(fields)
        }
        #expect(after("Sun, 06 Nov 1994 08:50:36 GMT") == nil)
        #expect(after("Sun, 06 Nov 1994 08:50:37 GMT") == .date(changed))
        #expect(after(nil) == nil)
    }

    @Test func `A validator survives its text`() {
        for validator in [Validator.tag("\"x\""), .date("Sun, 06 Nov 1994 08:49:37 GMT")] {
            #expect(Validator(text: validator.text) == validator)
        }
        #expect(Validator(text: "W/\"x\"") == nil)
    }

    private func validator(_ fields: [String: String]) -> Validator? {
        Validator(
            AnswerHead(status: 200, headers: fields.map { TransferHeader($0.key, $0.value) })
        )
    }

    @Test func `Reads and writes digests`() throws {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let digest = try #require(ContentDigest(.sha256, bytes))
        #expect(ContentDigest(field: digest.field) == digest)
        #expect(ContentDigest(field: "md5=:AAAA:, " + digest.field + ";q=1") == digest)
        let long = try #require(ContentDigest(.sha512, bytes + bytes))
        #expect(
            ContentDigest(field: "sha-256=:AAAA:,\tSHA-512=:\(ContentDigest.encode(long.bytes)):")
                == long
        )
    }

    @Test(
        arguments: [
            "", "sha-256", "sha-256=", "sha-256=::", "sha-256=:AA:", "sha-256=abc",
            "sha-256=:====:", "sha-256=:!!!!:", "sha-1=:AAAAAAAAAAAAAAAAAAAAAAAAAAA=:",
        ]
    )
    func `Refuses invalid digests`(field: String) {
        #expect(ContentDigest(field: field) == nil)
    }

    @Test func `Base64 is that of the standard`() {
        for (text, coded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
        ] {
            #expect(ContentDigest.encode(Array(text.utf8)) == coded)
        }
    }

    @Test func `Retry-After is seconds or a date`() {
        func delay(_ fields: [String: String], now: Int64 = 784_111_777) -> UInt64? {
            RetryAfter.delay(
                AnswerHead(status: 429, headers: fields.map { TransferHeader($0.key, $0.value) }),
                unixNow: now * 1_000_000_000
            )
        }
        #expect(delay([:]) == nil)
        #expect(delay(["retry-after": "7"]) == 7_000_000_000)
        #expect(delay(["retry-after": "-7"]) == nil)
        #expect(delay(["retry-after": "soon"]) == nil)
        #expect(delay(["retry-after": "9223372036854775807"]) == 31_622_400_000_000_000)
        let later = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(delay(["retry-after": later]) == 60_000_000_000)
        // Our clock may be wrong; theirs is the one that they mean.
        #expect(
            delay(["retry-after": later, "date": "Sun, 06 Nov 1994 08:50:27 GMT"])
                == 10_000_000_000
        )
        #expect(delay(["retry-after": "Sun, 06 Nov 1994 08:40:37 GMT"]) == 0)
    }
}
