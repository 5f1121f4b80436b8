// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A property list value, as stored in defaults.
///
/// The type is stored, so that an `Int` is read as an `Int`: there is no `NSNumber` here that would
/// be both.
indirect enum PropertyValue: Codable, Sendable, Equatable {
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    case array([PropertyValue])
    case dictionary([String: PropertyValue])

    /// Converts a value; `nil` if it is not a property list value.
    init?(_ value: Any) {
        switch value {
        case let value as Bool: self = .bool(value)
        case let value as any BinaryInteger:
            guard let number = Int(exactly: value) else { return nil }
            self = .int(number)
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let value as [Any]:
            let values = value.compactMap { PropertyValue($0) }
            guard values.count == value.count else { return nil }
            self = .array(values)
        case let value as [String: Any]:
            let values = value.compactMapValues { PropertyValue($0) }
            guard values.count == value.count else { return nil }
            self = .dictionary(values)
        default: return nil
        }
    }

    var any: Any {
        switch self {
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .array(let values): values.map(\.any)
        case .dictionary(let values): values.mapValues(\.any)
        }
    }

    // MARK: Conversions, as Apple's accessors make them

    var bool: Bool {
        switch self {
        case .bool(let value): value
        case .int(let value): value != 0
        case .double(let value): value != 0
        case .string(let text): ["1", "y", "t"].contains(text.lowercased().prefix(1))
        default: false
        }
    }

    var double: Double {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .int(let value): Double(value)
        case .double(let value): value
        case .string(let text): Double(text) ?? 0
        default: 0
        }
    }

    var int: Int {
        switch self {
        case .int(let value): value
        case .string(let text): Int(text) ?? Int(exactly: double.rounded(.towardZero)) ?? 0
        default: Int(exactly: double.rounded(.towardZero)) ?? 0
        }
    }

    var string: String? {
        switch self {
        case .string(let text): text
        case .bool(let value): value ? "1" : "0"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        default: nil
        }
    }
}
