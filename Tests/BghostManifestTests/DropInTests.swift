// SPDX-License-Identifier: Apache-2.0

import BghostManifest
import BghostModel
import Testing

@Suite
struct DropInTests {
    private static let main = """
        { "version": 1,
          "plugins": { "p": { "library": "libp.so" } },
          "tasks": { "t": { "plugin": "p" }, "u": { "plugin": "p" } } }
        """

    @Test
    func `Adds and overrides in bytewise order`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.main,
            dropIns: [
                (
                    "b.json",
                    #"{ "tasks": { "t": { "plugin": "q", "priority": 2, "override": true } } }"#
                ),
                ("a.json", #"{ "version": 1, "plugins": { "q": { "library": "libq.so" } } }"#),
                (
                    "B.json",
                    #"{ "tasks": { "t": { "plugin": "p", "priority": 1, "override": true } } }"#
                ),
            ]
        )
        #expect(diagnostics.isEmpty)
        let read = try #require(manifest)
        #expect(read.plugins.map(\.name) == ["p", "q"])
        #expect(read.tasks.map(\.identifier.description) == ["t", "u"])
        #expect(read.tasks.first?.priority == 2)
        #expect(read.tasks.first?.origin.file == "b.json")
    }

    @Test
    func `Cites both places`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.main,
            dropIns: [("tasks.d/10.json", "{ \"tasks\": {\n \"t\": { \"plugin\": \"p\" } } }")]
        )
        #expect(manifest == nil)
        let diagnostic = try #require(diagnostics.first)
        #expect(diagnostics.count == 1)
        #expect(diagnostic.code == .definedTwice)
        #expect(diagnostic.location == SourceLocation(file: "tasks.d/10.json", line: 2, column: 2))
        let first = SourceLocation(file: "tasks.json", line: 3, column: 14)
        #expect(diagnostic.notes.map(\.place.location) == [first])
        #expect(diagnostic.help?.contains("\"override\": true") == true)
    }

    @Test(arguments: [
        (#"{ "host": {} }"#, DiagnosticCode.notInDropIn),
        (#"{ "version": 2 }"#, .unsupportedVersion),
        (#"{ "tasks": { "new": { "plugin": "p", "override": true } } }"#, .nothingToOverride),
        (#"{ "tasks": { "new": { "plugin": "r" } } }"#, .notDefined),
        (#"{ "plugins": { "p": { "library": "x", "override": false } } }"#, .definedTwice),
        ("", .emptyFile), ("{", .cutOff), ("[]", .wrongType),
    ])
    func `A bad drop-in is refused`(dropIn: String, code: DiagnosticCode) {
        let (manifest, diagnostics) = ManifestFixture.read(Self.main, dropIns: [("d.json", dropIn)])
        #expect(manifest == nil)
        #expect(diagnostics.map(\.code) == [code])
        #expect(diagnostics.map(\.location.file) == ["d.json"])
    }

    /// What the broken file would have defined is not reported as missing.
    @Test
    func `Reports no consequences of a broken file`() {
        let (_, diagnostics) = ManifestFixture.read(
            Self.main,
            dropIns: [
                ("a.json", #"{ "plugins": { "q": { "library": "libq.so" "#),
                ("b.json", #"{ "tasks": { "v": { "plugin": "q", "every": 1 } } }"#),
            ]
        )
        #expect(diagnostics.map(\.code) == [.cutOff, .bareNumber])
    }

    @Test
    func `Orders diagnostics by file`() {
        let (_, diagnostics) = ManifestFixture.read(
            #"{ "version": 1, "tasks": { "t": { "plugin": "q" } } }"#,
            dropIns: [("b.json", #"{ "b": 1 }"#), ("a.json", #"{ "a": 1 }"#)]
        )
        #expect(diagnostics.map(\.location.file) == ["tasks.json", "a.json", "b.json"])
    }
}
