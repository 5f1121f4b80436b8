// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The body of a request, which is read strictly: a key that is unknown or of the wrong type is an error,
/// since to drop it would do something else than what was asked for.
package protocol RequestBody: Codable {
    /// All keys.
    static var keys: Set<String> { get }
    /// The keys that may be null, which counts as absent.
    static var nullableKeys: Set<String> { get }
    /// The keys whose value must be an object, whatever its members are.
    static var objectKeys: Set<String> { get }
    /// The keys whose number must be a whole one.
    static var integerKeys: Set<String> { get }
    /// What to tell a client about a value that is of the right type and not permitted.
    static var rules: [String: String] { get }
}

extension RequestBody {
    /// Reads a body.
    ///
    /// - Parameter bytes: a JSON text; empty for an object without members.
    /// - Throws: a fault that says what is wrong, and where.
    package static func read(_ bytes: [UInt8]) throws(ControlFault) -> Self {
        let bytes = bytes.isEmpty ? Array("{}".utf8) : bytes
        let node = try ControlFault.parsed(bytes)
        guard let members = node.object else {
            throw .badRequest("the body is \(node.typeName) where an object is needed")
        }
        for member in members {
            guard keys.contains(member.key) else {
                throw .badRequest(
                    "`\(TerminalText.escaped(member.key))` is not a key of a request"
                )
            }
            let isMisplacedNull = member.value.isNull && !nullableKeys.contains(member.key)
            let isNoObject = objectKeys.contains(member.key) && member.value.object == nil
            if isMisplacedNull || isNoObject { throw fault(member.key, of: node) }
            // The decoder does not say which number it cannot represent.
            if case .number = member.value.value,
                member.value.double == nil
                    || integerKeys.contains(member.key) && member.value.int64 == nil
            {
                throw fault(member.key)
            }
        }
        do {
            return try APICoder.value(from: bytes, parsed: node)
        } catch DecodingError.dataCorrupted(let context) {
            throw fault(context.codingPath.first?.stringValue ?? "")
        } catch DecodingError.typeMismatch(_, let context) {
            throw fault(context.codingPath.first?.stringValue ?? "", of: node)
        } catch {
            throw .badRequest("the body is not a request")
        }
    }

    static func fault(_ key: String) -> ControlFault {
        .badRequest("`\(key)` \(rules[key] ?? "is not permitted")")
    }

    private static func fault(_ key: String, of body: JSONNode) -> ControlFault {
        .badRequest("`\(key)` must not be \(body[key]?.typeName ?? "absent")")
    }
}

extension ControlFault {
    /// The value of a body, of which the limits of `JSONReader` hold.
    static func parsed(_ bytes: [UInt8]) throws(ControlFault) -> JSONNode {
        do throws(JSONError) {
            return try JSONReader.parse(bytes)
        } catch {
            throw .badRequest("the body is no JSON: \(error)")
        }
    }
}
