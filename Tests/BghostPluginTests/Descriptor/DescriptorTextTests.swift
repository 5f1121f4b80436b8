// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import Testing

/// The texts of a table, each of which may be anything at all.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTextTests {
    struct Field: Sendable, CustomTestStringConvertible {
        var field: String
        var part: String
        /// The most bytes that it may have.
        var most: Int

        var testDescription: String { field }
    }

    static let fields = [
        Field(field: "plugin.id", part: "its id", most: 128),
        Field(field: "plugin.version", part: "its version", most: 64),
        Field(field: "plugin.vendor", part: "its vendor", most: 256),
        Field(field: "task.handler", part: "the name of handler 0", most: 128),
        Field(
            field: "task.params_schema",
            part: "the schema of handler \"succeed\"",
            most: 64 << 10
        ),
    ]

    private func refusal(_ fixture: String, _ defines: [String]) throws -> DescriptorError? {
        let table = try EntryTable(fixture, defines: defines)
        return #expect(throws: DescriptorError.self) {
            try PluginDescriptor.read(
                table.pointer,
                note: PluginNote(abiMajor: 1, abiMinor: 0, id: "test." + fixture)
            )
        }
    }

    @Test(arguments: fields) func `Null with length`(field: Field) throws {
        let error = try refusal("null-strings", ["FIELD=" + field.field])
        #expect(error?.problem == .nullText(part: field.part, length: 12))
    }

    @Test(arguments: fields) func `At wild address`(field: Field) throws {
        let error = try refusal("wild-strings", ["FIELD=" + field.field])
        #expect(error?.problem == .unreadable(part: field.part))
    }

    @Test(arguments: fields) func `Texts that are too long are refused`(field: Field) throws {
        let error = try refusal("oversized-strings", ["FIELD=" + field.field])
        #expect(
            error?.problem == .longText(part: field.part, length: 1 << 20, most: field.most)
        )
    }

    @Test(arguments: fields) func `One byte too many`(field: Field) throws {
        let length = "LENGTH=\(field.most + 1)"
        let error = try refusal("oversized-strings", ["FIELD=" + field.field, length])
        #expect(error?.code == "long-text")
    }

    /// The nearest thing that is allowed; not for the id, which must be that of the note.
    @Test(arguments: fields.dropFirst()) func `Texts of the greatest length are read`(field: Field)
        throws
    {
        let table = try EntryTable(
            "oversized-strings",
            defines: ["FIELD=" + field.field, "LENGTH=\(field.most)"]
        )
        let plugin = try PluginDescriptor.read(
            table.pointer,
            note: PluginNote(abiMajor: 1, abiMinor: 0, id: "test.oversized-strings")
        )
        let handler = try #require(plugin.handlers.first)
        let texts = [plugin.version, plugin.vendor, handler.name, handler.parametersSchema]
        #expect(texts.contains { $0.utf8.count == field.most })
    }

    @Test(arguments: fields) func `Length of all memory`(field: Field) throws {
        let error = try refusal("oversized-strings", ["FIELD=" + field.field, "LENGTH=(size_t)-1"])
        #expect(
            error?.problem == .longText(part: field.part, length: .max, most: field.most)
        )
    }

    @Test(arguments: fields) func `Text that is not UTF-8 is refused`(field: Field) throws {
        let error = try refusal("non-utf8-strings", ["FIELD=" + field.field])
        #expect(error?.code == (field.field == "task.handler" ? "bad-handler-name" : "not-utf8"))
        #expect(error?.description.contains(#""caf\xe9""#) == true)
    }

    @Test(arguments: [
        #"a\nb"#, #"a\0b"#, #"a\033[31mb"#, #"a\177"#, #"\u202eevil"#, #"\u2028"#, #"\u2066"#,
        #"\302\205"#,
    ])
    func `Control characters are refused`(text: String) throws {
        for field in ["plugin.vendor", "plugin.version"] {
            let error = try refusal("non-utf8-strings", ["FIELD=" + field, "TEXT=\"\(text)\""])
            #expect(error?.code == "control-character")
            #expect(error?.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } == true)
        }
    }

    @Test(arguments: ["", "../up", "a b", "a/b", "ä", "a\\0"])
    func `Bad names of handlers are refused`(text: String) throws {
        let error = try refusal(
            "non-utf8-strings",
            ["FIELD=task.handler", "TEXT=\"\(text)\""]
        )
        #expect(error?.code == "bad-handler-name")
    }
}
