// SPDX-License-Identifier: Apache-2.0

import BghostManifest
import BghostModel
import Testing

@Suite
struct SecretTests {
    private static func config(_ value: String) -> String {
        ManifestFixture.plugin("\"config\": { \"a\": \(value) }")
    }

    @Test(arguments: [
        (#""${env:A}""#, #"{"a":"s3cret"}"#),
        (#""x${env:A}y${env:A}""#, #"{"a":"xs3cretys3cret"}"#),
        (#""$${env:A}""#, #"{"a":"${env:A}"}"#), (#""$$${env:A}""#, #"{"a":"$${env:A}"}"#),
        (#""$5 {env:A} $""#, #"{"a":"$5 {env:A} $"}"#),
        (#"["\u0024{env:A}"]"#, #"{"a":["s3cret"]}"#),
        (#"{ "${env:A}": 1 }"#, #"{"a":{"${env:A}":1}}"#),
        (#""${file:/run/s}""#, #"{"a":"\"}"}"#), (#""${file:sub/s}""#, #"{"a":""}"#),
        (#""${manifest:dir}/spool""#, #"{"a":"/etc/bghost/spool"}"#),
        (#""${credential:n-1.x}""#, #"{"a":"${env:A}"}"#),
    ])
    func `References to secrets are expanded`(value: String, expected: String) {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.config(value),
            secrets: [
                "${env:A}": "s3cret", "${file:/run/s}": "\"}", "${file:/etc/bghost/sub/s}": "",
                "${credential:n-1.x}": "${env:A}",
            ]
        )
        #expect(diagnostics.isEmpty)
        #expect(manifest?.plugins.first?.config == expected)
    }

    @Test(arguments: [
        ManifestErrorTests.Bad(.badReference, config("\"x▶${env:A\"")),
        .init(.badReference, config("\"▶${HOME}\"")), .init(.badReference, config("\"▶${}\"")),
        .init(.badReference, config("\"▶${manifest:file}\"")),
        .init(.badReference, config("\"▶${evn:A}\""), label: "did you mean `${env:A}`?"),
        .init(.badReference, config("\"▶${env:}\"")),
        .init(.badReference, config("\"▶${env:A B}\"")),
        .init(.badReference, config("\"▶${credential:../x}\"")),
        .init(.badReference, config("\"▶${credential:..}\"")),
        .init(.badReference, config("\"▶${file:~/x}\"")),
        .init(.unresolvedSecret, config("[1, \"é ▶${env:A}\"]")),
        // With escapes in it, the string as a whole is named.
        .init(.unresolvedSecret, config("▶\"\\n${env:A}\"")),
        .init(.unresolvedSecret, ManifestFixture.task("\"parameters\": { \"a\": \"▶${file:x}\" }")),
        .init(.unresolvedSecret, ManifestFixture.host("\"stateDirectory\": \"▶${env:A}/x\"")),
    ])
    func `Each bad secret is named with its place`(_ bad: ManifestErrorTests.Bad) throws {
        try ManifestErrorTests().`Each error is named with its place`(bad)
    }

    @Test
    func `Warns instead and keeps the reference`() {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.config("\"${env:A}\""),
            unresolved: .warning
        )
        #expect(diagnostics.map(\.severity) == [.warning])
        #expect(diagnostics.map(\.code) == [.unresolvedSecret])
        #expect(manifest?.plugins.first?.config == #"{"a":"${env:A}"}"#)
    }

    /// No diagnostic shows a value, also not one about what the value does to a path or a size.
    @Test(arguments: [
        ("${env:A}", "hush\u{0}hush", DiagnosticCode.badPath), ("${env:A}", "", .badPath),
        ("${env:A}", "~/hush", .badPath),
        ("unix:${env:A}", "/hush" + String(repeating: "h", count: 107), .badPath),
    ])
    func `Never prints values`(path: String, value: String, code: DiagnosticCode) {
        let key = path.hasPrefix("unix:") ? "control" : "stateDirectory"
        let (manifest, diagnostics) = ManifestFixture.read(
            ManifestFixture.host("\"\(key)\": \"\(path)\", \"slots\": 0"),
            secrets: ["${env:A}": value]
        )
        #expect(manifest == nil)
        #expect(diagnostics.map(\.code) == [code, .outOfRange])
        for diagnostic in diagnostics {
            #expect(!diagnostic.rendered(color: true).contains("hush"))
        }
    }

    @Test
    func `Measures settings with their secrets`() {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.config("\"${env:A}\""),
            secrets: ["${env:A}": String(repeating: "hush", count: 1 << 14)]
        )
        #expect(manifest == nil)
        #expect(diagnostics.map(\.code) == [.outOfRange])
        #expect(!diagnostics.contains { $0.rendered(color: false).contains("hush") })
    }
}
