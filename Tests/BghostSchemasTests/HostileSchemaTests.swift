// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostSchemas
import Glibc
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

    /// A schema whose text repeats one part, and parameters that cost much for each of them.
    struct Repeated: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var schema: String
        var parameters: String

        init(_ description: String, _ part: String, times: Int, _ parameters: String) {
            let parts = Array(repeating: part, count: times).joined(separator: ",")
            let list = "\"allOf\":[\(parts)]"
            testDescription = description
            let isOfMember = parameters.hasPrefix(#"{"a":"#)
            schema = isOfMember ? "{\"properties\":{\"a\":{\(list)}}}" : "{\(list)}"
            self.parameters = parameters
        }
    }

    private static let digits = #"{"a":1"# + String(repeating: "1", count: 60_000) + "}"
    private static let zeros = #"{"a":1"# + String(repeating: "0", count: 60_000) + "}"
    private static let ones = #"{"a":["# + String(repeating: "1,", count: 30_000) + "1]}"
    private static let keys =
        "{" + (0..<7000).map { "\"\(String($0, radix: 16))\":0" }.joined(separator: ",") + "}"

    static let repeated = [
        Repeated("keys", #"{"properties":{"a":true}}"#, times: 2000, keys),
        Repeated("missing keys", #"{"not":{"required":["a"]}}"#, times: 2000, keys),
        Repeated("integers", #"{"type":"integer"}"#, times: 3200, digits),
        Repeated("minimum", #"{"minimum":1}"#, times: 3500, digits),
        Repeated("multiples", #"{"multipleOf":1}"#, times: 3500, digits),
        Repeated("enumerated", #"{"not":{"const":2}}"#, times: 2000, zeros),
        Repeated("unique", #"{"not":{"uniqueItems":true}}"#, times: 2000, ones),
    ]

    /// Each part looks at all of the parameters, which are as long as they may be.
    @Test(.timeLimit(.minutes(5)), arguments: repeated)
    func `All work that a schema repeats counts as steps`(_ repeated: Repeated) throws {
        let schema = try ParameterSchema(repeated.schema)
        try #require(repeated.parameters.utf8.count <= 64 << 10)
        #expect(
            schema.faults(in: repeated.parameters).map(\.message) == [
                "checking them takes too many steps; give less, or simplify the schema"
            ]
        )
    }

    /// 900 misspelled keys were compared with 64 names in each of the branches: half a minute of the CPU.
    @Test(.timeLimit(.minutes(5)))
    func `Only keys that are named are compared with the known ones`() throws {
        let names = (10..<74).map { "\"p\($0)\(String(repeating: "abcde", count: 11))\":true" }
        let branches = Array(repeating: ##"{"$ref":"#/$defs/a"}"##, count: 10)
        let schema = try ParameterSchema(
            """
            {"$defs":{"a":{"properties":{\(names.joined(separator: ","))},
            "additionalProperties":false}},"anyOf":[\(branches.joined(separator: ","))]}
            """
        )
        let keys = (100..<1000).map { "\"q\($0)\(String(repeating: "klmno", count: 11))\":0" }
        let start = Self.processorTime
        let faults = schema.faults(in: "{\(keys.joined(separator: ","))}")
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.message.contains("in the nearest of 10 forms") == true, "\(faults)")
        #expect(Self.processorTime - start < .seconds(5))
    }

    /// Of this thread.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
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

    /// A schema of 57 KB with 2,400 patterns held 117 MB.
    @Test(.timeLimit(.minutes(5)))
    func `Equal patterns of a plugin are compiled once`() {
        let part = #"{"pattern":"(a|b){470}"}"#
        let text = "{\"allOf\":[\(Array(repeating: part, count: 1800).joined(separator: ","))]}"
        let schemas = HandlerSchemas((0..<16).map { ("h\($0)", text) })
        #expect(schemas.problems.isEmpty, "\(schemas.problems)")
        #expect(schemas.schemas["h15"]?.faults(in: #"{"a":1}"#) == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `The patterns of one plugin have a limit together`() {
        let schemas = HandlerSchemas(
            (0..<16).map { handler in
                let parts = (100..<110).map { #"{"pattern":"(a|b){450}\#(handler)\#($0)"}"# }
                return ("h\(handler)", "{\"allOf\":[\(parts.joined(separator: ","))]}")
            }
        )
        #expect((1...15).contains(schemas.schemas.count), "\(schemas.schemas.count)")
        let reason = "the patterns have more than 131072 states together"
        #expect(schemas.problems["h15"]?.contains(reason) == true, "\(schemas.problems)")
    }

    @Test func `The parts of the schemas of one plugin have a limit together`() {
        let text =
            #"{"allOf":["# + Array(repeating: "{}", count: 4000).joined(separator: ",") + "]}"
        let schemas = HandlerSchemas((0..<80).map { ("h\($0)", text) })
        #expect(schemas.schemas.count == 8)
        let reason = "the schemas of the plugin have more than 32768 schemas in them"
        #expect(schemas.problems["h79"]?.contains(reason) == true, "\(schemas.problems)")
    }

    /// Each of 4,000 schemas held the key above it while they were compiled: 160 MB.
    @Test func `A schema below a very long key is refused`() {
        let key = String(repeating: "k", count: 32_000)
        let parts = Array(repeating: "{}", count: 4000).joined(separator: ",")
        let error = #expect(throws: SchemaError.self) {
            try ParameterSchema("{\"properties\":{\"\(key)\":{\"allOf\":[\(parts)]}}}")
        }
        #expect(error?.message == "the keys above this schema have more than 4096 bytes")
        #expect((error?.pointer.utf8.count ?? .max) < 200)
    }
}
