// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostSchemas
import Testing

/// Each keyword with values that fit and values that do not.
@Suite struct KeywordTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var schema: String
        var fitting: [String]
        /// Values with what is wrong.
        var wrong: [(value: String, fault: String)]

        init(_ schema: String, fits: [String], _ wrong: [(String, String)]) {
            self.schema = schema
            fitting = fits
            self.wrong = wrong
        }

        var testDescription: String { schema }
    }

    static let scalars = [
        Row("true", fits: ["1", "{}"], []),
        Row("{}", fits: ["1", "null"], []),
        Row("false", fits: [], [("1", "parameters /v: nothing is allowed here")]),
        Row(
            #"{"type":"integer"}"#,
            fits: ["1", "1.0", "1e3", "-0", "9007199254740993"],
            [
                ("1.5", "parameters /v: 1.5 is there; an integer is wanted"),
                ("\"1\"", "parameters /v: a string is there; an integer is wanted"),
                ("1e-1", "parameters /v: 1e-1 is there; an integer is wanted"),
            ]
        ),
        Row(
            #"{"type":["string","null"]}"#,
            fits: ["\"\"", "null"],
            [("true", "parameters /v: true is there; a string or null is wanted")]
        ),
        Row(#"{"type":"number"}"#, fits: ["1", "1.5"], [("null", "null is there; a number")]),
        Row(#"{"type":"boolean"}"#, fits: ["true"], [("0", "0 is there; true or false")]),
        Row(#"{"type":"array"}"#, fits: ["[]"], [("{}", "an object is there; an array")]),
        Row(#"{"type":"object"}"#, fits: ["{}"], [("[]", "an array is there; an object")]),
        Row(
            #"{"enum":["a",1,{"x":[1,2]}]}"#,
            fits: ["\"a\"", "1.0", #"{"x":[1,2.0]}"#],
            [("2", #"2 is there; one of "a", 1, {"x":[1,2]} is wanted"#)]
        ),
        Row(#"{"const":{"a":1,"b":2}}"#, fits: [#"{"b":2,"a":1}"#], [("{}", "is wanted")]),
        Row(
            #"{"minimum":2,"maximum":10}"#,
            fits: ["2", "10", "1e1", "\"no number\""],
            [
                ("12", "parameters /v: 12 is above the maximum 10"),
                ("1.999999999999999999999", "is below the minimum 2"),
                ("-3", "-3 is below the minimum 2"),
            ]
        ),
        Row(
            #"{"maximum":9007199254740992}"#,
            fits: ["9007199254740992"],
            [("9007199254740993", "is above the maximum 9007199254740992")]
        ),
        Row(
            #"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#,
            fits: ["0.5", "1e-400"],
            [("0", "0 is not above 0"), ("1.0", "1.0 is not below 1"), ("-0.1", "not above")]
        ),
        Row(
            #"{"multipleOf":0.01}"#,
            fits: ["0", "19.99", "1e5", "-3"],
            [("0.001", "0.001 is no multiple of 0.01")]
        ),
        Row(
            #"{"multipleOf":7}"#,
            fits: ["14", "7e3", "700000000000000000000000000000"],
            [("15", "no multiple"), ("0.7", "no multiple"), ("1e400", "no multiple")]
        ),
        Row(
            #"{"minLength":2,"maxLength":3}"#,
            fits: ["\"ab\"", "\"äöü\"", "\"\u{1F600}\u{1F600}\"", "5"],
            [
                ("\"a\"", "a string of 1 character; at least 2 are wanted"),
                ("\"abcd\"", "a string of 4 characters; at most 3 are allowed"),
            ]
        ),
        Row(
            #"{"pattern":"^[a-z]+(-[0-9]{2,3})?$"}"#,
            fits: ["\"abc\"", "\"abc-12\"", "7"],
            [("\"abc-1\"", "does not match"), ("\"ABC\"", "does not match")]
        ),
        Row(
            #"{"format":"date-time"}"#,
            fits: [
                "\"2026-11-24T16:30:00Z\"", "1", "\"9999-12-31T23:59:59.5Z\"",
                "\"0001-01-01T00:00:00+01:00\"", "\"2016-12-31T23:59:60Z\"",
                "\"2017-01-01T00:59:60.25+01:00\"",
            ],
            [
                ("\"yesterday\"", "not a date and time"),
                ("\"2016-12-31T23:58:60Z\"", "not a date and time"),
                ("\"2016-12-31T23:59:61Z\"", "not a date and time"),
                ("\"9999-12-31T24:00:00Z\"", "not a date and time"),
                ("\"+999-12-31T23:00:00Z\"", "not a date and time"),
            ]
        ),
        Row(
            #"{"format":"date"}"#,
            fits: [
                "\"2024-02-29\"", "\"9999-12-31\"", "\"2262-04-13\"", "\"1677-09-21\"",
                "\"0001-01-01\"", "\"1600-02-29\"",
            ],
            [
                ("\"2023-02-29\"", "not a date"), ("\"9999-13-01\"", "not a date"),
                ("\"1500-02-29\"", "not a date"), ("\"99999-1-01\"", "not a date"),
                ("\"-001-01-01\"", "not a date"),
            ]
        ),
        Row(
            #"{"format":"uuid"}"#,
            fits: ["\"123e4567-e89b-12d3-a456-426614174000\""],
            [("\"123e4567\"", "not a UUID")]
        ),
        Row(
            #"{"format":"ipv4"}"#,
            fits: ["\"127.0.0.1\""],
            [("\"127.0.0.256\"", "not an IPv4 address"), ("\"01.0.0.1\"", "IPv4")]
        ),
        Row(#"{"format":"hostname"}"#, fits: ["\"?\""], []),
    ]

    static let containers = [
        Row(
            #"{"items":{"type":"integer"},"minItems":1,"maxItems":2}"#,
            fits: ["[1]", "[1,2]", "{}"],
            [
                ("[]", "0 elements; at least 1 are wanted"),
                ("[1,2,3]", "3 elements; at most 2 are allowed"),
                ("[1,\"x\"]", "parameters /v/1: a string is there; an integer is wanted"),
            ]
        ),
        Row(
            #"{"prefixItems":[{"type":"string"}],"items":false}"#,
            fits: ["[]", "[\"a\"]"],
            [("[1]", "/v/0: 1 is there"), ("[\"a\",2]", "/v/1: nothing is allowed here")]
        ),
        Row(
            #"{"uniqueItems":true}"#,
            fits: ["[]", "[1,\"1\",[1]]", "[{\"a\":1},{\"a\":2}]"],
            [
                ("[1,2,1.0]", "parameters /v/2: it equals element 0; all must differ"),
                (#"[{"a":1,"b":2},{"b":2,"a":1}]"#, "/v/1: it equals element 0"),
            ]
        ),
        Row(
            #"""
            {"properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}
            """#,
            fits: ["1"],
            [
                ("{}", "parameters /v/a: it is missing; a string is wanted"),
                (#"{"a":"x"}"#, "parameters /v/b: it is missing; a value is wanted"),
                (#"{"a":"","c/~":1}"#, "parameters /v/c~1~0: there is no such parameter"),
                (#"{"aa":""}"#, "did you mean `a`?"),
            ]
        ),
        Row(
            #"{"additionalProperties":{"type":"integer"},"minProperties":1,"maxProperties":2}"#,
            fits: [#"{"x":1}"#],
            [
                ("{}", "0 members; at least 1"), (#"{"a":1,"b":1,"c":1}"#, "3 members; at most 2"),
                (#"{"a":"b"}"#, "/v/a: a string is there; an integer is wanted"),
            ]
        ),
        Row(
            #"{"allOf":[{"minimum":1},{"maximum":3}]}"#,
            fits: ["2"],
            [("0", "below"), ("4", "above")]
        ),
        Row(
            #"{"anyOf":[{"type":"integer"},{"minLength":2}]}"#,
            fits: ["1", "\"ab\"", "null"],
            [("\"a\"", "in the nearest of 2 forms")]
        ),
        Row(
            #"{"oneOf":[{"multipleOf":3},{"multipleOf":5}]}"#,
            fits: ["3", "5"],
            [("15", "it fits 2 of the alternatives; exactly one is wanted"), ("7", "no multiple")]
        ),
        Row(#"{"not":{"type":"string"}}"#, fits: ["1"], [("\"a\"", "which is excluded")]),
        Row(
            #"""
            {"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","required":["n"],
             "properties":{"n":{"type":"integer"},"c":{"items":{"$ref":"#/$defs/tree"}}}}}}
            """#,
            fits: [#"{"n":1,"c":[{"n":2,"c":[]}]}"#],
            [(#"{"n":1,"c":[{"c":[]}]}"#, "parameters /v/c/0/n: it is missing; an integer")]
        ),
        Row(
            #"{"title":"t","description":"d","default":1,"examples":[2],"$comment":"c","x-a":1}"#,
            fits: ["\"any\""],
            []
        ),
    ]

    @Test(arguments: scalars + containers)
    func `A keyword holds for values that fit and names what is wrong in others`(row: Row) throws {
        // `$ref` counts from the root, so the definitions are there.
        let schema = try Self.wrapped(row.schema)
        for value in row.fitting {
            #expect(schema.faults(in: #"{"v":\#(value)}"#).isEmpty, "\(value)")
        }
        for (value, fault) in row.wrong {
            let found = schema.faults(in: #"{"v":\#(value)}"#).map(\.description)
            #expect(found.contains { $0.contains(fault) }, "\(value): \(found)")
        }
    }

    private static func wrapped(_ schema: String) throws -> ParameterSchema {
        let node = try JSONReader.parse(schema)
        guard let definitions = node["$defs"] else {
            return try ParameterSchema(#"{"properties":{"v":\#(schema)}}"#)
        }
        let inner = JSONNode(.object((node.object ?? []).filter { $0.key != "$defs" }))
        return try ParameterSchema(
            #"{"properties":{"v":\#(inner.text)},"$defs":\#(definitions.text)}"#
        )
    }

    @Test(arguments: [
        ("[", "it is not JSON"),
        ("1", "a schema is an object, true or false, not a number"),
        (#"{"typ":"string"}"#, "/typ: `typ` is no keyword; did you mean `type`?"),
        (#"{"type":"text"}"#, "is no type; use null, boolean"),
        (#"{"type":[]}"#, "it has no type in it"),
        (#"{"minimum":"1"}"#, "/minimum: a number is wanted, not a string"),
        (#"{"multipleOf":0}"#, "a number above 0"),
        (#"{"minLength":-1}"#, "a count of 0 or more is wanted"),
        (#"{"required":[1]}"#, "an array of strings is wanted"),
        (#"{"enum":[]}"#, "it has no value in it"),
        (#"{"anyOf":[]}"#, "it has no schema in it"),
        (#"{"properties":{"a/b":{"items":3}}}"#, "/properties/a~1b/items: a schema is an object"),
        (#"{"patternProperties":{}}"#, "bghost does not support `patternProperties`; name"),
        (#"{"if":true}"#, "bghost does not support `if`; use anyOf"),
        (#"{"frobnicate":1}"#, "is no keyword of JSON Schema 2020-12; begin it with x-"),
        (#"{"pattern":"(?=a)"}"#, "look-around and named groups are not supported"),
        (#"{"pattern":"(a)\\1"}"#, "references back to groups are not supported"),
        (#"{"pattern":"(((a{1000}){1000}){1000})"}"#, "more than 2000 states"),
        (#"{"pattern":"((((){1000}){1000}){1000}){1000}b("}"#, "a group is not closed"),
        (#"{"$ref":"https://example.org/a.json"}"#, "other documents are not read"),
        (##"{"$ref":"#/$defs/none"}"##, "is neither `#` nor"),
        (##"{"$ref":"#"}"##, "it refers to itself for the same value"),
        (
            ##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
            "it refers to itself for the same value"
        ),
    ])
    func `A schema that cannot be checked is refused with its place`(
        text: String,
        message: String
    ) throws {
        let error = #expect(throws: SchemaError.self) { try ParameterSchema(text) }
        #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }

    @Test func `A task's own parameters may lack what a request gives`() throws {
        let schema = try ParameterSchema(
            ##"""
            {"type":"object","required":["a","b"],"minProperties":2,
             "oneOf":[{"required":["c"]},{"required":["d"]}],"not":{"maxProperties":1},
             "properties":{"a":{"type":"integer"},"b":{"required":["x"]}}}
            """##
        )
        #expect(schema.faults(in: "{}", isComplete: false).isEmpty)
        #expect(schema.faults(in: #"{"a":"1"}"#, isComplete: false).count == 1)
        // What is nested is replaced as a whole, so it must be complete.
        let nested = schema.faults(in: #"{"b":{}}"#, isComplete: false)
        #expect(nested.map(\.pointer) == ["/b/x"])
        #expect(!schema.faults(in: "{}").isEmpty)
    }

    @Test func `Both schemas of a task hold, for the request laid over the task's parameters`()
        throws
    {
        let rules = ParameterRules([
            try ParameterSchema(#"{"required":["a","b"]}"#),
            try ParameterSchema(#"{"properties":{"b":{"maximum":10}}}"#), nil,
        ])
        #expect(rules.faults(base: #"{"a":1,"b":12}"#, over: #"{"b":3}"#).isEmpty)
        #expect(
            rules.faults(base: #"{"b":1}"#, over: #"{"b":12}"#).map(\.pointer) == ["/a", "/b"]
        )
    }
}
