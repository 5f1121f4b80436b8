// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostDispatch
import BghostModel
import Testing

/// What a daemon keeps of its manifest, and how the next one compares its own with it.
@Suite struct KeptManifestTests {
    private func manifest(_ tasks: [(String, [(key: String, text: String)])]) -> Manifest {
        var manifest = Manifest()
        manifest.written = WrittenDefinitions(tasks.map { WrittenDefinition(.task, $0.0, $0.1) })
        return manifest
    }

    private let first: [(String, [(key: String, text: String)])] = [
        ("a", [("every", "1h"), ("parameters.key", "s3cret")]), ("b", [("every", "\"é\"\n")]),
    ]

    @Test func `The first manifest is kept, and is no change`() throws {
        let step = ManifestStep(to: manifest(first), from: nil)
        let text = try #require(step.text)
        #expect(step.report == nil)
        #expect(!text.contains("s3cret"))
        #expect(KeptManifest(text: text)?.text == text)
        let same = ManifestStep(to: manifest(first), from: text)
        #expect(same.text == nil && same.report == nil)
    }

    @Test func `Changes are found, those of secrets too, again and again`() throws {
        let kept = try #require(ManifestStep(to: manifest(first), from: nil).text)
        var other = first
        other[0].1 = [("every", "2h"), ("parameters.key", "another")]
        other[1].0 = "c"
        let step = ManifestStep(to: manifest(other), from: kept)
        #expect(
            step.report?.linesWithoutSecrets == [
                "+ task c", "~ task a: every: 1h → 2h", "~ task a: parameters.key has changed",
                "- task b",
            ]
        )
        // The salt stays, or each later comparison would find the secrets changed.
        let next = try #require(step.text)
        #expect(ManifestStep(to: manifest(other), from: next).report == nil)
        // Another order is another file, and the same manifest.
        let turned = ManifestStep(to: manifest(other.reversed()), from: next)
        #expect(turned.text != nil && turned.report == nil)
    }

    @Test func `A changed signer is not left out of a long list`() throws {
        func signed(_ every: String, _ key: String) -> Manifest {
            var manifest = manifest((0..<2000).map { ("t\($0)", [("every", every)]) })
            manifest.written = WrittenDefinitions(
                manifest.written.all + [WrittenDefinition(.signer, "acme", [("key", key)])]
            )
            return manifest
        }
        let kept = try #require(ManifestStep(to: signed("1h", "one"), from: nil).text)
        let report = try #require(ManifestStep(to: signed("2h", "two"), from: kept).report)
        #expect(report.linesWithoutSecrets.first == "~ signer acme: key: one → two")
        #expect(report.summary == "tasks: 2000 changed; signer: changed")
    }

    @Test(arguments: [
        "", "null", "{", #"{"salt": 1}"#, #"{"salt": "s", "definitions": [{"kind": "x"}]}"#,
        #"{"salt": "s", "definitions": [{"kind": "task", "name": "a", "values": [["k"]]}]}"#,
    ])
    func `What another version kept is compared with nothing`(text: String) {
        #expect(KeptManifest(text: text)?.text == nil)
        let step = ManifestStep(to: manifest(first), from: text)
        #expect(step.text != nil && step.report == nil)
    }
}
