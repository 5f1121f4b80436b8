// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// Files that a manifest names and that other users could change.
@Suite struct FileTrustTests {
    @Test(arguments: [
        ManifestFixture.host(#""facts": {"probes": {"p": {"run": [▶"/bad", "/other"]}}}"#),
        ManifestFixture.host(#""alerts": {"to": [{"command": [▶"/bad", "-t"]}]}"#),
        ManifestFixture.host(
            #""alerts": {"to": [{"ntfy": "https://a.b/c", "token": "▶${file:/bad}"}]}"#
        ),
        ManifestFixture.plugin(#""config": {"a": "x▶${file:/bad}"}"#),
        ManifestFixture.host(
            #""fleet": {"name": "a", "connection": ▶"host=x sslkey='/bad' user=u"}"#
        ),
        ManifestFixture.host(
            #""fleet": {"name": "a", "connection": ▶"postgres://h/d?a=b&sslrootcert=%2Fbad"}"#
        ),
    ])
    func `Each is refused in its place`(marked: String) throws {
        let (text, places) = ManifestFixture.unmark(marked)
        let (manifest, diagnostics) = ManifestFixture.read(
            text,
            secrets: ["${file:/bad}": "hush"],
            doubts: ["/bad": "/bad can be written by everybody"]
        )
        #expect(manifest == nil)
        let diagnostic = try #require(diagnostics.first)
        #expect(diagnostics.count == 1 && diagnostic.code == .untrustedFile, "\(diagnostics)")
        #expect(diagnostic.message.hasSuffix("to be trusted: /bad can be written by everybody"))
        #expect(diagnostic.help?.contains("--dev") == true)
        #expect(diagnostic.location.line == places[0].line)
        #expect(diagnostic.location.column == places[0].column)
        let trusted = ManifestFixture.read(text, secrets: ["${file:/bad}": "hush"])
        #expect(trusted.diagnostics.isEmpty)
    }

    @Test func `A path out of a secret is not shown`() {
        let (_, diagnostics) = ManifestFixture.read(
            ManifestFixture.host(#""fleet": {"name": "a", "connection": "${env:A}"}"#),
            secrets: ["${env:A}": "sslkey=/hush/key"],
            doubts: ["/hush/key": "/hush/key can be written by everybody"]
        )
        #expect(diagnostics.map(\.code) == [.untrustedFile])
        #expect(diagnostics.allSatisfy { !$0.rendered(color: false).contains("hush") })
    }

    @Test(arguments: [
        ("postgresql://u:p@h:1/d?sslkey=/a%20b&sslcert=/c&options=/d", ["/a b", "/c"]),
        ("postgresql:///d?sslrootcert=system", []), ("postgresql://h/d", []), ("", []),
        ("host = /run/pg sslkey = /a sslrootcert='/b c' passfile=/d\\ e", ["/a", "/b c", "/d e"]),
        ("sslcrldir='/it\\'s' x", ["/it's"]), ("sslkey=", []), ("sslkey='/open", ["/open"]),
        ("postgresql://u:p?x&y@h/d?sslkey=/a", ["/a"]),
        ("postgresql:///d?user=a%40b&sslkey=/a", ["/a"]),
        ("postgres://h/d?sslkey=%2", []), ("postgres://h/d?sslkey=/a%zz", ["/a%zz"]),
    ])
    func `Files of a connection are found in both forms`(text: String, paths: [String]) {
        #expect(ConnectionFiles.named(in: text).map(\.path) == paths)
    }
}
