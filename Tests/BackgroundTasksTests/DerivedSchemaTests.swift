// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BghostBase
import BghostSchemas
import FoundationEssentials
import Testing

/// The schemas that the SDK derives from the types of parameters.
@Suite(.timeLimit(.minutes(5)))
struct DerivedSchemaTests {
    private static func schema<Value: Decodable & SendableMetatype>(of type: Value.Type) -> String {
        Handler("h") { (_: TaskContext, _: Value) in }.schema
    }

    // MARK: Types

    struct Scalars: Codable {
        var flag: Bool
        var text: String?
        var count: Int
        var small: UInt8
        var share: Double
        var when: Date
        var link: URL
        var id: UUID
        var bytes: Data
    }

    enum Mode: String, Codable, CaseIterable { case fast, small }

    struct Nested: Codable {
        struct Place: Codable {
            var latitude: Double
            var name: String?
        }
        var home: Place
        var others: [Place]
        var mode: Mode
        var labels: [String: Int]
        var maybe: [Int?]
    }

    final class Tree: Codable {
        var name: String
        var children: [Tree]
    }

    /// A default for what is absent.
    struct Defaulted: Decodable {
        enum Key: CodingKey { case city, count }
        var city: String
        var count: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            city = try container.decode(String.self, forKey: .city)
            count = container.contains(.count) ? try container.decode(Int.self, forKey: .count) : 1
        }
    }

    /// A text or a number.
    struct Either: Decodable {
        struct Value: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if (try? container.decode(String.self)) != nil { return }
                _ = try container.decode(Int.self)
            }
        }
        enum Key: CodingKey { case value, other }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            _ = try container.decode(Value.self, forKey: .value)
            _ = try? container.decode(Int.self, forKey: .other)
        }
    }

    /// A type that decodes other keys for other values.
    struct Depending: Decodable {
        enum Key: CodingKey { case kind, a, b }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let isEmpty = try container.decode(String.self, forKey: .kind).isEmpty
            _ = try container.decode(Int.self, forKey: isEmpty ? .a : .b)
        }
    }

    /// A type that no made-up value satisfies after its first key.
    struct Picky: Decodable {
        enum Key: CodingKey { case name, port }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            _ = try container.decode(String.self, forKey: .name)
            guard try container.decode(Int.self, forKey: .port) > 1000 else {
                throw DecodingError.dataCorruptedError(
                    forKey: .port,
                    in: container,
                    debugDescription: "too small"
                )
            }
        }
    }

    @Test func `Stored properties become properties with their types`() {
        #expect(
            Self.schema(of: Scalars.self) == """
                {"type":"object","properties":{"flag":{"type":"boolean"},\
                "text":{"type":["string","null"]},"count":{"type":"integer"},\
                "small":{"type":"integer","minimum":0,"maximum":255},"share":{"type":"number"},\
                "when":{"type":"number"},"link":{"type":"string"},"id":{"type":"string"},\
                "bytes":{"type":"string"}},"required":["flag","count","small","share","when",\
                "link","id","bytes"]}
                """
        )
        #expect(
            Self.schema(of: Nested.self) == """
                {"type":"object","properties":{"home":{"type":"object","properties":\
                {"latitude":{"type":"number"},"name":{"type":["string","null"]}},\
                "required":["latitude"]},"others":{"type":"array","items":{"type":"object",\
                "properties":{"latitude":{"type":"number"},"name":{"type":["string","null"]}},\
                "required":["latitude"]}},"mode":{"enum":["fast","small"]},\
                "labels":{"type":"object"},"maybe":{"type":"array","items":\
                {"type":["integer","null"]}}},"required":["home","others","mode","labels","maybe"]}
                """
        )
    }

    @Test func `What a type tolerates is not in its schema`() {
        #expect(
            Self.schema(of: Defaulted.self) == """
                {"type":"object","properties":{"city":{"type":"string"},\
                "count":{"type":"integer"}},"required":["city"]}
                """
        )
        #expect(
            Self.schema(of: Either.self) == """
                {"type":"object","properties":{"value":{},"other":{}},"required":["value"]}
                """
        )
        #expect(Self.schema(of: Depending.self).isEmpty)
        #expect(
            Self.schema(of: Picky.self) == """
                {"type":"object","properties":{"name":{"type":"string"},\
                "port":{"type":"integer"}},"required":["name","port"]}
                """
        )
        #expect(Self.schema(of: [String: Int].self).isEmpty)
        #expect(Self.schema(of: [Int].self).isEmpty)
        // Recursion ends at some depth.
        #expect(Self.schema(of: Tree.self).utf8.count < 64 << 10)
    }

    /// What a type decodes, its schema must not refuse.
    @Test func `A derived schema accepts what its type decodes, and refuses what it does not`()
        throws
    {
        func decodes<Value: Decodable>(_ type: Value.Type, _ text: String) -> Bool {
            (try? JSONDecoder().decode(type, from: Data(text.utf8))) != nil
        }
        func check<Value: Decodable & SendableMetatype>(
            _ type: Value.Type,
            _ right: [String],
            _ wrong: [String]
        ) throws {
            let schema = try ParameterSchema(Self.schema(of: type))
            for text in right {
                #expect(decodes(type, text), "\(type): \(text)")
                #expect(schema.faults(in: text).isEmpty, "\(type): \(text)")
            }
            for text in wrong {
                #expect(!decodes(type, text), "\(type): \(text)")
                #expect(!schema.faults(in: text).isEmpty, "\(type): \(text)")
            }
        }
        let place = #"{"latitude":1,"name":null,"more":[]}"#
        let nested =
            #""others":[\#(place)],"mode":"small","labels":{"a":1},"maybe":[1,null]"#
        try check(
            Nested.self,
            [#"{"home":\#(place),\#(nested)}"#],
            [
                "{\(nested)}", #"{"home":{},\#(nested)}"#, #"{"home":null,\#(nested)}"#,
                #"{"home":\#(place),\#(nested.replacing("small", with: "big"))}"#,
                #"{"home":\#(place),\#(nested.replacing("[1,null]", with: "[true]"))}"#,
            ]
        )
        try check(
            Defaulted.self,
            [#"{"city":"x"}"#, #"{"city":"x","count":2}"#],
            ["{}", #"{"city":"x","count":"2"}"#, #"{"city":"x","count":null}"#]
        )
        try check(
            Either.self,
            [#"{"value":1}"#, #"{"value":"a","other":"b"}"#],
            ["{}"]
        )
        try check(
            Tree.self,
            [#"{"name":"a","children":[{"name":"b","children":[]}]}"#],
            [#"{"name":"a","children":[{"name":1,"children":[]}]}"#]
        )
    }

    @Test func `An author may write the schema by hand, or want none`() {
        let derived = Handler("h") { (_: TaskContext, _: Scalars) in }
        #expect(derived.parametersSchema("{}").schema == "{}")
        #expect(derived.parametersSchema("").schema.isEmpty)
        #expect(Handler("h") { _ in }.schema.isEmpty)
    }
}
