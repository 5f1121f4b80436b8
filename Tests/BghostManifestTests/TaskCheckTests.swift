// SPDX-License-Identifier: Apache-2.0

import BghostManifest
import Testing

/// Parts of one task that do not fit one another, and manifests in another format.
@Suite struct TaskCheckTests {
    private func codes(_ fields: String) -> [DiagnosticCode] {
        ManifestFixture.read(ManifestFixture.task(fields)).diagnostics.map(\.code)
    }

    @Test func `A runtime that exceeds the interval is warned of`() throws {
        let text = ManifestFixture.task(
            "\"every\": \"10s\", \"limits\": { \"runtime\": \"1m\" }"
        )
        let (manifest, diagnostics) = ManifestFixture.read(text)
        #expect(manifest != nil)
        let warning = try #require(diagnostics.first)
        #expect(diagnostics.count == 1)
        #expect(warning.code == .runtimeExceedsInterval && warning.severity == .warning)
        #expect(warning.message == "task `t` may run for 1m, but is due every 10s")
    }

    @Test(arguments: [
        "\"every\": \"1m\", \"limits\": { \"runtime\": \"1m\" }",
        // A default says nothing of this task.
        "\"every\": \"1s\"",
        "\"every\": \"10s\", \"overlap\": \"allow\", \"limits\": { \"runtime\": \"1m\" }",
        "\"calendar\": \"* * * * *\", \"limits\": { \"runtime\": \"10m\" }",
    ])
    func `A runtime that fits is not warned of`(fields: String) {
        #expect(codes(fields) == [])
    }

    @Test(arguments: [
        ("version: 1", "YAML"), ("---\nversion: 1", "YAML"),
        ("# tasks\n\nhost:\n  slots: 4", "YAML"),
        ("- a\n- b", "YAML"), ("[host]\nslots = 4", "TOML"), ("version = 1", "TOML"),
    ])
    func `A manifest in another format is named as YAML or TOML`(text: String, format: String)
        throws
    {
        let diagnostics = ManifestFixture.read(text).diagnostics
        #expect(diagnostics.map(\.code) == [.malformed])
        let message = try #require(diagnostics.first?.message)
        #expect(message == "this looks like \(format); bghost reads JSON")
    }

    @Test(arguments: [
        "{ version: 1 }", "[1, 2", "\"version: 1\" x", "['version']", "// version: 1\n{ x }",
        "nonsense",
        "http://example.org/a: b",
    ])
    func `Invalid JSON is not reported as another format`(text: String) {
        for diagnostic in ManifestFixture.read(text).diagnostics {
            #expect(!diagnostic.message.contains("looks like"))
        }
    }

    @Test(arguments: [
        ("/" + String(repeating: "x", count: 102), true),
        ("/" + String(repeating: "x", count: 103), false),
        ("/" + String(repeating: "x", count: 92) + "/s", true),
        ("/" + String(repeating: "x", count: 93) + "/s", false),
    ])
    func `The reader takes the paths of sockets that the daemon can bind`(
        path: String,
        isGood: Bool
    ) {
        let text = ManifestFixture.host("\"control\": \"unix:\(path)\"")
        let codes = ManifestFixture.read(text).diagnostics.map(\.code)
        #expect(codes == (isGood ? [] : [.badPath]))
        #expect(DiagnosticCode.badPath.explanation.contains("103 bytes"))
    }
}
