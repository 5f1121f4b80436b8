// SPDX-License-Identifier: Apache-2.0

/// A C type with a value: the type of a result, a field or a plain argument.
package indirect enum ForeignType: Equatable, Sendable {
    case scalar(ScalarType)
    /// An opaque `void *`: null, or a handle that an earlier call returned.
    case pointer
    /// `const char *`, NUL-terminated, or null. The host passes an owned one to `free` after reading it.
    case string(owned: Bool)
    /// A struct by value.
    case structure([StructureField])

    /// The integer type, if it is one.
    var integer: ScalarType? {
        guard case .scalar(let scalar) = self, scalar.isInteger else { return nil }
        return scalar
    }
}

/// A member of a struct; either all members have names or none has.
package struct StructureField: Equatable, Sendable {
    package var name: String?
    package var type: ForeignType

    init(name: String? = nil, type: ForeignType) {
        self.name = name
        self.type = type
    }
}

extension ForeignType: CustomStringConvertible {
    package var description: String {
        switch self {
        case .scalar(let scalar): scalar.rawValue
        case .pointer: "pointer"
        case .string(let owned): owned ? "owned string" : "string"
        case .structure(let fields):
            "{" + fields.map(\.description).joined(separator: ", ") + "}"
        }
    }
}

extension StructureField: CustomStringConvertible {
    package var description: String { (name.map { $0 + ": " } ?? "") + type.description }
}
