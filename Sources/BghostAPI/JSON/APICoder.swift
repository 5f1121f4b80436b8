// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import FoundationEssentials

/// The coder of the control API: every type of the API becomes JSON here, and JSON becomes a type.
///
/// Keys are sorted, so that the same value is always the same text.
package enum APICoder {
    /// Writes a value of the API as one JSON text without white space.
    ///
    /// No value of the API can fail to become JSON: `Seconds` writes finite numbers only, and `JSONPart`
    /// writes null for what is not JSON.
    package static func json(_ value: some Encodable) -> [UInt8] {
        let parts = JSONPart.Collector()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let key = JSONPart.collectorKey { encoder.userInfo[key] = parts }
        // See above; a test encodes a value of each type.
        guard let data = try? encoder.encode(value) else { return Array("null".utf8) }
        return parts.inserted(into: data)
    }

    /// Writes an answer: the members of its body, and its schema.
    package static func json<Body>(_ schema: AnswerSchema<Body>, _ body: Body) -> [UInt8] {
        guard let stream = schema.stream else {
            return json(Document(schema: schema.name, body: body))
        }
        var writer = JSONWriter(reservingBytes: 1024)
        writer.object { writer in
            stream(body, &writer)
            writer.member("schema", schema.name)
        }
        return writer.bytes
    }

    /// Writes a value of the API as text.
    package static func text(_ value: some Encodable) -> String {
        String(decoding: json(value), as: UTF8.self)
    }

    /// Writes an answer as text.
    package static func text<Body>(_ schema: AnswerSchema<Body>, _ body: Body) -> String {
        String(decoding: json(schema, body), as: UTF8.self)
    }

    /// Reads a value of the API from a JSON text.
    ///
    /// - Throws: `JSONError` if the text is not JSON, `DecodingError` if it is another value.
    package static func value<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from bytes: [UInt8]
    ) throws -> Value {
        try value(type, from: bytes, parsed: parsed(bytes))
    }

    /// Reads the JSON of an answer.
    ///
    /// An answer is deeper than what it contains: the parameters of a request and the result of a run are
    /// up to `JSONReader.depthMax` levels deep themselves.
    package static func parsed(_ answer: [UInt8]) throws(JSONError) -> JSONNode {
        try JSONReader.parse(answer, depthMax: JSONReader.depthMax + levelsAbovePartsMax)
    }

    /// More than any type of the API has above a `JSONPart`.
    private static let levelsAbovePartsMax = 16

    /// Reads a value of the API from a JSON text that `JSONReader` has accepted.
    ///
    /// The reader comes first for every text: it limits the depth, rejects duplicate keys, of which the
    /// decoder would drop one, and says where a text is wrong. `JSONPart` takes its text from the node.
    package static func value<Value: Decodable>(
        _ type: Value.Type = Value.self,
        from bytes: [UInt8],
        parsed node: JSONNode
    ) throws -> Value {
        let decoder = JSONDecoder()
        if let key = JSONPart.documentKey { decoder.userInfo[key] = node }
        return try decoder.decode(type, from: Data(bytes))
    }

    /// An answer with its schema, which is a member beside those of the body.
    private struct Document<Body: Encodable>: Encodable {
        let schema: String
        let body: Body

        private enum CodingKeys: String, CodingKey {
            case schema
        }

        func encode(to encoder: any Encoder) throws {
            try body.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(schema, forKey: .schema)
        }
    }
}
