// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
@testable import BghostModel
import Testing

/// What differs between the files of two manifests.
@Suite struct WrittenComparisonTests {
    private static func compare(
        _ old: String,
        _ new: String,
        dropIns: [(name: String, text: String)] = [],
        secrets: [String: String] = [:]
    ) throws -> WrittenComparison {
        let before = ManifestFixture.read(old, secrets: secrets)
        let after = ManifestFixture.read(new, dropIns: dropIns, secrets: secrets)
        return WrittenComparison(
            try #require(after.manifest, "\(after.diagnostics)"),
            since: try #require(before.manifest, "\(before.diagnostics)")
        )
    }

    private static func texts(_ changes: [WrittenChange]) -> [String] {
        changes.map { "\($0.key): \($0.before ?? "-") → \($0.after ?? "-")" }
    }

    @Test func `Changed, new and removed keys of a task are named by their path`() throws {
        let comparison = try Self.compare(
            ManifestFixture.task(#""every": "30s", "limits": {"runtime": "5s"}, "priority": 3"#),
            ManifestFixture.task(
                #""every": "45s", "limits": {"runtime": "5s", "grace": "1s"}, "x-note": 1"#
            )
        )
        #expect(
            Self.texts(comparison.of(.task, "t")) == [
                "every: 30s → 45s", "limits.grace: - → 1s", "priority: 3 → -",
            ]
        )
        #expect(comparison.of(.plugin, "p").isEmpty && comparison.of(.host).isEmpty)
    }

    @Test func `Comments, spaces and the order of keys are no difference`() throws {
        let comparison = try Self.compare(
            ManifestFixture.plugin(#""prestart": 1, "permissions": {"read": ["/a", "/b"]}"#),
            ManifestFixture.plugin(
                #""permissions": { /* two */ "read": [ "/a","/b" ] }, "prestart": 1"#
            )
        )
        #expect(comparison.of(.plugin, "p").isEmpty)
    }

    @Test func `A secret is shown as its reference only`() throws {
        func plugin(_ key: String) -> String {
            ManifestFixture.plugin(#""config": {"login": {"token": "x${env:\#(key)}"}}"#)
        }
        let secrets = ["${env:A}": "hush", "${env:B}": "hush2"]
        let comparison = try Self.compare(plugin("A"), plugin("B"), secrets: secrets)
        #expect(
            Self.texts(comparison.of(.plugin, "p")) == [
                "config.login.token: x${env:A} → x${env:B}"
            ]
        )
        // Nothing that is kept for the comparison has a value.
        let manifest = try #require(
            ManifestFixture.read(plugin("A"), secrets: secrets).manifest
        )
        #expect(manifest.plugins[0].config.contains("hush"))
        #expect(!"\(manifest.written)".contains("hush"))
    }

    @Test func `A definition has the file and the line of its name`() throws {
        let result = ManifestFixture.read(
            """
            {"version": 1, "plugins": {"p": {"library": "p.so"}},
             "tasks": {
               "a": {"plugin": "p"},
               "b": {
                 "plugin": "p"}}}
            """,
            dropIns: [
                (
                    "tasks.d/a.json",
                    "\n{\"tasks\": {\"a\": {\"plugin\": \"p\", \"override\": true}}}"
                )
            ]
        )
        let manifest = try #require(result.manifest, "\(result.diagnostics)")
        let tasks = manifest.written.all.filter { $0.kind == .task }
        let places = tasks.map { "\($0.name) \($0.place)" }
        #expect(places == ["a tasks.d/a.json:2", "b tasks.json:4"])
        #expect(manifest.written.all.first { $0.kind == .host }?.place == "")
    }

    @Test func `A definition that overrides another is compared with it`() throws {
        let text = ManifestFixture.task(#""every": "30s""#)
        let comparison = try Self.compare(
            text,
            text,
            dropIns: [
                (
                    "tasks.d/a.json",
                    #"{"tasks": {"t": {"plugin": "p", "every": "1m", "override": true}}}"#
                )
            ]
        )
        #expect(Self.texts(comparison.of(.task, "t")) == ["every: 30s → 1m"])
    }

    @Test func `A host without keys is compared with one that has some`() throws {
        let comparison = try Self.compare(
            #"{"version": 1}"#,
            ManifestFixture.host(#""slots": 3"#)
        )
        #expect(Self.texts(comparison.of(.host)) == ["slots: - → 3"])
    }

    /// Of objects without keys, and with some.
    @Test(arguments: [
        ("{}", #"{"a": "x"}"#, ["config.a: - → x"]),
        (#"{"a": "x"}"#, "{}", ["config.a: x → -"]),
        (#"{"a": {}}"#, #"{"a": {"b": {"c": 1}}}"#, ["config.a.b.c: - → 1"]),
        ("{}", #"{"a": {}}"#, ["config.a: - → {}"]),
        (#"{"a": {}}"#, #"{"a": []}"#, ["config.a: {} → []"]),
        (#"{"a": {}, "b": 1}"#, #"{"b": 1}"#, ["config.a: {} → -"]),
    ])
    func `An object that gets keys or loses them is named by its keys`(
        old: String,
        new: String,
        changes: [String]
    ) throws {
        let comparison = try Self.compare(
            ManifestFixture.plugin(#""config": \#(old)"#),
            ManifestFixture.plugin(#""config": \#(new)"#)
        )
        #expect(Self.texts(comparison.of(.plugin, "p")) == changes)
    }

    @Test func `Long texts are cut around their first difference`() throws {
        let same = String(repeating: "a", count: 1000)
        let change = WrittenChange(key: "config.x", before: same + "b", after: same + "cd")
        #expect(change.before?.hasSuffix("ab") == true && change.after?.hasSuffix("acd") == true)
        #expect(change.before?.hasPrefix("…a") == true)
        let new = WrittenChange(key: "config.x", before: nil, after: same)
        #expect(new.after?.count == WrittenChange.textMax + 1)
        #expect(new.after?.hasSuffix("a…") == true)
    }

    @Test func `What files contain decides nothing`() throws {
        let short = ManifestFixture.read(ManifestFixture.task(#""every": "60s""#)).manifest
        let long = ManifestFixture.read(ManifestFixture.task(#""every": "1m""#)).manifest
        #expect(short == long && short != nil)
    }
}
