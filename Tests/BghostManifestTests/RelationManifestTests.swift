// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// The keys of a task that relate it to others.
@Suite struct RelationManifestTests {
    private static let many = (1...16).map { "\"t\($0)\"" }.joined(separator: ", ")

    static let bad: [ManifestErrorTests.Bad] = [
        .init(.badTags, ManifestFixture.task("\"tags\": [\"a\", \"b\", ▶\"a\"]")),
        .init(
            .badTags,
            ManifestFixture.task("\"tags\": [\(many), ▶\"t17\"]"),
            label: "at most 16"
        ),
        .init(.badName, ManifestFixture.task("\"tags\": [▶\"\"]")),
        .init(.badName, ManifestFixture.task("\"tags\": [▶\"-a\"]")),
        .init(.badName, ManifestFixture.task("\"tags\": [\"a\", ▶\"b c\"]")),
        .init(
            .badName,
            ManifestFixture.task("\"tags\": [▶\"\(String(repeating: "x", count: 33))\"]")
        ),
        .init(.wrongType, ManifestFixture.task("\"tags\": ▶\"nightly\"")),
        .init(.wrongType, ManifestFixture.task("\"tags\": [▶1]")),
    ]

    @Test(arguments: bad)
    func `Each error is named with its place`(_ bad: ManifestErrorTests.Bad) throws {
        let (text, places) = ManifestFixture.unmark(bad.text)
        let (manifest, diagnostics) = ManifestFixture.read(text)
        #expect(manifest == nil)
        #expect(diagnostics.count == 1, "\(diagnostics)")
        let diagnostic = try #require(diagnostics.first)
        let place = try #require(places.first)
        #expect(diagnostic.code == bad.code)
        #expect(
            diagnostic.location
                == SourceLocation(file: "tasks.json", line: place.line, column: place.column)
        )
        if let label = bad.label { #expect(diagnostic.label == label) }
        #expect(diagnostic.code.explanation.isEmpty == false)
    }

    @Test func `A task has at most 16 tags, in their order`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            ManifestFixture.task("\"tags\": [\(Self.many)]")
        )
        #expect(diagnostics.isEmpty)
        #expect(try #require(manifest).tasks[0].tags == (1...16).map { "t\($0)" })
    }
}
