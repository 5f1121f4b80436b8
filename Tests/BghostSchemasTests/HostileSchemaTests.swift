// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostSchemas
import Testing

/// Schemas and values that are made to cost much.
@Suite struct HostileSchemaTests {
    @Test func `A schema that is too long, too large or too deep is refused`() {
        let long = #"{"title":""# + String(repeating: "a", count: 64 << 10) + #""}"#
        let many =
            #"{"allOf":["# + Array(repeating: "{}", count: 5000).joined(separator: ",") + "]}"
        let deep =
            String(repeating: #"{"not":"#, count: 100) + "true"
            + String(repeating: "}", count: 100)
        for (text, message) in [
            (long, "at most 64 KiB"), (many, "more than 4096 schemas"), (deep, "nested deeper"),
        ] {
            let error = #expect(throws: SchemaError.self) { try ParameterSchema(text) }
            #expect(error?.message.contains(message) == true, "\(String(describing: error))")
        }
    }

    /// Each level asks two branches, each of which asks the next level: 2^60 steps without a bound.
    @Test(.timeLimit(.minutes(5)))
    func `Branches that multiply end with an answer`() throws {
        let schema = try ParameterSchema(
            ##"""
            {"$defs":{"t":{"properties":{"n":{"anyOf":[{"$ref":"#/$defs/t"},{"$ref":"#/$defs/t"}]},
             "z":{"type":"integer"}}}},"$ref":"#/$defs/t"}
            """##
        )
        let value =
            String(repeating: #"{"n":"#, count: 60) + #"{"z":""}"#
            + String(repeating: "}", count: 60)
        let faults = schema.faults(in: value)
        #expect(
            faults.map(\.message) == [
                "checking them takes too many steps; give less, or simplify the schema"
            ]
        )
        // The largest parameters that a request may have, each element with a schema.
        let large = try ParameterSchema(
            #"{"properties":{"a":{"items":{"type":"integer","minimum":0}}}}"#
        )
        let list = Array(repeating: "1", count: 32_700).joined(separator: ",")
        #expect(large.faults(in: "{\"a\":[\(list)]}").isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A pattern takes time in proportion to its text`() throws {
        let schema = try ParameterSchema(#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#)
        let text = String(repeating: "a", count: 30_000) + "b"
        let faults = schema.faults(in: #"{"a":"\#(text)"}"#)
        #expect(faults.count == 1, "\(faults)")
        #expect(schema.faults(in: #"{"a":"aaaa"}"#).isEmpty)
    }

    @Test func `No more than 20 faults are named, and the others are counted`() throws {
        let schema = try ParameterSchema(#"{"additionalProperties":{"type":"string"}}"#)
        let members = (0..<1000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let faults = schema.faults(in: "{\(members)}")
        #expect(faults.count == 20)
        #expect(faults.last?.message == "981 more places do not fit")
    }

    @Test func `A fault quotes no text of the parameters, and its place is printable`() throws {
        let schema = try ParameterSchema(
            #"{"additionalProperties":{"type":"integer","enum":[1]}}"#
        )
        let faults = schema.faults(in: "{\"\\u001b[2J\":\"secret\"}")
        #expect(faults.count == 1)
        let text = faults.map(\.description).joined()
        #expect(!text.contains("secret") && !text.contains("\u{1B}") && text.contains("1B"))
    }

    @Test func `The schemas of one plugin have a limit together`() {
        let text = #"{"title":""# + String(repeating: "a", count: 60 << 10) + #""}"#
        let schemas = HandlerSchemas((0..<300).map { ("h\($0)", text) })
        #expect(schemas.schemas.count == 17)
        #expect(schemas.problems.count == 239)
        #expect(schemas.problems["h255"]?.contains("more than 1024 KiB together") == true)
    }
}
