// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Encodes and decodes JSON that is exchanged with the host.
package enum JSON {
    /// Encodes with sorted keys, so that equal values have equal text.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Decodes a value; the error names in one line the place that does not match.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from text: String,
        what: String
    ) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch let error as DecodingError {
            throw MismatchError(description: error.sentence(about: what))
        }
    }
}

/// Parameters or settings that do not match the type that a handler expects.
public struct MismatchError: Error, CustomStringConvertible {
    /// What was expected where, such as: parameters: `home.latitude` is not a Double.
    public let description: String
}

extension DecodingError {
    fileprivate func sentence(about what: String) -> String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(what): `\(Self.path(context.codingPath + [key]))` is missing"
        case .valueNotFound(let type, let context):
            "\(what): \(Self.place(context)) is null, expected \(type)"
        case .typeMismatch(let type, let context):
            "\(what): \(Self.place(context)) is not \(type)"
        case .dataCorrupted(let context):
            "\(what): \(Self.place(context)): \(context.debugDescription)"
        @unknown default:
            "\(what): \(self)"
        }
    }

    private static func place(_ context: Context) -> String {
        context.codingPath.isEmpty ? "the whole" : "`\(path(context.codingPath))`"
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
