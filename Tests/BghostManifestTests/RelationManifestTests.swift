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

    private static func tasks(_ text: String) -> String {
        """
        { "version": 1, "plugins": { "p": { "library": "libp.so" } }, "tasks": { \(text) } }
        """
    }

    private static func task(_ name: String, _ then: String) -> String {
        "\"\(name)\": { \"plugin\": \"p\", \"then\": [\(then)] }"
    }

    private static func chain(_ tasks: (String, String)...) -> String {
        Self.tasks(tasks.map { task($0, $1) }.joined(separator: ", "))
    }

    private static let seventeen = (1...17).map { "\($0 == 17 ? "▶" : "")\"f.\($0)\"" }
        .joined(separator: ", ")

    static let chains: [ManifestErrorTests.Bad] = [
        .init(
            .notDefined,
            chain(("a", "▶\"reprot\""), ("report", "")),
            label: "did you mean \"report\"?"
        ),
        .init(.notDefined, chain(("a", "{ \"task\": ▶\"f.x\" }"), ("f", ""))),
        .init(
            .badIdentifier,
            chain(("a", "▶\"f.*\""), ("f.*", "")),
            label: "name one identifier of it"
        ),
        .init(.badIdentifier, chain(("a", "▶\"\""))),
        .init(.wrongType, chain(("a", "▶7"))),
        .init(
            .wrongType,
            tasks("\"a\": { \"plugin\": \"p\", \"then\": ▶\"b\" }, \(task("b", ""))")
        ),
        .init(.missingKey, chain(("a", "▶{}"))),
        .init(.unknownKey, chain(("a", "{ \"task\": \"b\", ▶\"parameter\": \"own\" }"), ("b", ""))),
        .init(
            .unknownWord,
            chain(("a", "{ \"task\": \"b\", \"parameters\": ▶\"results\" }"), ("b", "")),
            label: "did you mean \"result\"?"
        ),
        .init(
            .unknownWord,
            chain(("a", "{ \"task\": \"b\", \"onConflict\": ▶\"queue\" }"), ("b", ""))
        ),
        .init(.badChain, chain(("a", "\"b\", { \"task\": ▶\"b\" }"), ("b", ""))),
        .init(.badChain, chain(("a", seventeen), ("f.*", "")), label: "at most 16"),
        .init(.chainCycle, chain(("a", "▶\"a\""))),
        .init(
            .chainCycle,
            chain(("a", "\"b\""), ("b", "\"c\""), ("c", "\"d\", ▶\"a\""), ("d", ""))
        ),
        .init(.chainCycle, chain(("x", "\"a\""), ("a", "\"b\""), ("b", "▶\"a\""))),
        // A member of a family brings what follows the family.
        .init(.chainCycle, chain(("f.*", "▶\"f.x\""))),
        .init(.chainCycle, chain(("f.*", "\"a\""), ("a", "{ \"task\": ▶\"f.x.y\" }"))),
    ]

    @Test func `What follows a task is read`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.chain(
                (
                    "a",
                    """
                    "b", { "task": "f.x", "parameters": "result", "onConflict": "keep" }, \
                    { "task": "f.own", "parameters": "own", "onConflict": "update", "x-note": 1 }
                    """
                ),
                ("b", "\"f.own\""),
                ("f.*", "\"f.own\""),
                ("f.own", "")
            )
        )
        #expect(diagnostics.isEmpty, "\(diagnostics)")
        let tasks = try #require(manifest).tasks
        #expect(
            tasks[0].then == [
                TaskFollower(task: "b"),
                TaskFollower(task: "f.x", takesResult: true, onConflict: .keep),
                TaskFollower(task: "f.own", onConflict: .update),
            ]
        )
        // An exact task beside its family is no member of it, so it may follow it.
        #expect(tasks[2].then == [TaskFollower(task: "f.own")])
    }

    @Test func `A cycle is shown as the way that it goes`() throws {
        let text = Self.chain(("a", "\"b\""), ("b", "\"c\""), ("c", "\"b\""))
        let diagnostics = ManifestFixture.read(text).diagnostics
        #expect(
            diagnostics.map(\.message) == [
                "task `b` would follow its own success: `b` → `c` → `b`"
            ]
        )
        #expect(diagnostics.first?.help?.contains("`every` or `calendar`") == true)
        var long = (0..<3000).map { ("t\($0)", "\"t\($0 + 1)\"") }
        long.append(("t3000", "\"t0\""))
        let names = long.map { Self.task($0, $1) }.joined(separator: ", ")
        let deep = ManifestFixture.read(Self.tasks(names)).diagnostics
        #expect(deep.map(\.code) == [.chainCycle])
        #expect(deep.first?.message.hasSuffix("`t7` → … → `t0`") == true)
    }

    @Test(arguments: bad + chains)
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
