// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The one notation of a JSON value: equal values, in the sense of JSON Schema, have equal bytes.
///
/// Numbers are equal whatever their notation is, and the order of an object's members does not count.
enum CanonicalJSON {
    static func bytes(_ node: JSONNode) -> [UInt8] {
        switch node.value {
        case .null: return Array("null".utf8)
        case .bool(let flag): return Array((flag ? "true" : "false").utf8)
        case .number(let text): return Array(DecimalNumber(text).canonicalText.utf8)
        case .string(let text): return Array(JSONNode(.string(text)).text.utf8)
        case .array(let elements):
            var result = [UInt8(ascii: "[")]
            for element in elements {
                result += bytes(element)
                result.append(UInt8(ascii: ","))
            }
            return result + [UInt8(ascii: "]")]
        case .object(let members):
            let sorted = members.map { (bytes(JSONNode(.string($0.key))), $0.value) }
                .sorted { $0.0.lexicographicallyPrecedes($1.0) }
            var result = [UInt8(ascii: "{")]
            for (key, value) in sorted {
                result += key
                result.append(UInt8(ascii: ":"))
                result += bytes(value)
                result.append(UInt8(ascii: ","))
            }
            return result + [UInt8(ascii: "}")]
        }
    }
}
