// SPDX-License-Identifier: Apache-2.0

/// A JSON value, for dictionaries with values of any type.
enum JSONValue: Codable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case table([String: JSONValue])

    /// Converts a value.
    ///
    /// - Throws: `UNError` for a value or a key that JSON cannot represent.
    init(_ value: Any) throws {
        switch value {
        case let value as JSONValue: self = value
        case let value as Bool: self = .bool(value)
        case let value as any BinaryInteger: self = .integer(Int64(clamping: value))
        case let value as any BinaryFloatingPoint where Double(value).isFinite:
            self = .number(Double(value))
        case let value as String: self = .text(value)
        case let value as [Any]: self = .list(try value.map(JSONValue.init))
        case let value as [AnyHashable: Any]:
            let pairs = try value.map { key, value in
                guard let name = key.base as? String else { throw Self.unfit(key.base) }
                return (name, try JSONValue(value))
            }
            self = .table(Dictionary(pairs) { one, _ in one })
        case _ where Mirror(reflecting: value).displayStyle == .optional: self = .null
        default: throw Self.unfit(value)
        }
    }

    private static func unfit(_ value: Any) -> UNError {
        UNError(
            .contentProvidingInvalid,
            "`userInfo` has a value of type \(type(of: value)), which JSON cannot hold; store a text or a number"
        )
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        func found<Content: Decodable>(_ type: Content.Type) -> Content? {
            // An error says that the value is of another type; the last type throws it.
            try? value.decode(type)
        }
        if value.decodeNil() {
            self = .null
        } else if let content = found(Bool.self) {
            self = .bool(content)
        } else if let content = found(Int64.self) {
            self = .integer(content)
        } else if let content = found(Double.self) {
            self = .number(content)
        } else if let content = found(String.self) {
            self = .text(content)
        } else if let content = found([JSONValue].self) {
            self = .list(content)
        } else {
            self = .table(try value.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let content): try value.encode(content)
        case .integer(let content): try value.encode(content)
        case .number(let content): try value.encode(content)
        case .text(let content): try value.encode(content)
        case .list(let content): try value.encode(content)
        case .table(let content): try value.encode(content)
        }
    }

    /// The value as a Swift type.
    var plain: Any {
        switch self {
        case .null: Optional<String>.none as Any
        case .bool(let content): content
        case .integer(let content): Int(clamping: content)
        case .number(let content): content
        case .text(let content): content
        case .list(let content): content.map(\.plain)
        case .table(let content): content.mapValues(\.plain)
        }
    }

    /// The value as a `userInfo` dictionary; `nil` if it is not an object.
    var object: [AnyHashable: Any]? {
        guard case .table(let content) = self else { return nil }
        return Dictionary(content.map { (AnyHashable($0.key), $0.value.plain) }) { one, _ in one }
    }
}
