// SPDX-License-Identifier: Apache-2.0

import BghostModel
import Testing

@Suite struct GrantTests {
    @Test(arguments: [
        ("example.org", "example.org", true), ("example.org", "www.example.org", false),
        ("example.org", "example.org.", false), ("example.org", "", false),
        ("*.example.org", "www.example.org", true), ("*.example.org", "a.b.example.org", true),
        ("*.example.org", "example.org", false), ("*.example.org", ".example.org", false),
        ("*.example.org", "notexample.org", false),
        ("*.example.org", "www.example.org.evil.test", false),
        ("::1", "::1", true), ("::1", "::2", false), ("127.0.0.1", "127.0.0.1", true),
    ])
    func `A grant covers its host and port only`(grant: String, host: String, isAllowed: Bool) {
        let grant = NetworkGrant(host: grant, port: 443)
        #expect(grant.allows(host: host, port: 443) == isAllowed)
        #expect(!grant.allows(host: host, port: 80))
    }

    @Test(arguments: [
        "a", "A", "7", "a.b", "com.example.stormy.refresh", "a_b", "a-b",
        "a.b.*", "a.*", String(repeating: "x", count: 128),
    ])
    func `Is an identifier`(text: String) {
        #expect(IdentifierPattern(text)?.description == text)
    }

    @Test(arguments: [
        "", "*", ".*", ".", ".a", "a.", "a..b", "a.*.b", "a*", "a.**", "*.a", "a. b", " a", "a\n",
        "_a", "-a", "a._b", "a.-b", "ä", "a/b", "a\u{0}", String(repeating: "x", count: 129),
    ])
    func `Is no identifier`(text: String) {
        #expect(IdentifierPattern(text) == nil)
    }

    @Test(arguments: [
        ("a.b", "a.b", true), ("a.b", "a.B", false), ("a.b", "a.b.c", false),
        ("a.*", "a.b", true), ("a.*", "a.b.c", true), ("a.*", "a", false), ("a.*", "a.", false),
        ("a.*", "ab.c", false), ("a.*", "A.b", false),
    ])
    func `A pattern matches identifiers`(pattern: String, identifier: String, isMatch: Bool) throws
    {
        #expect(try #require(IdentifierPattern(pattern)).matches(identifier) == isMatch)
    }
}
