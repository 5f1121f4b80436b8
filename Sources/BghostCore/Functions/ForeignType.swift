// SPDX-License-Identifier: Apache-2.0

/// A C type that has a value of its own: what a result, a field or a plain argument can be.
package indirect enum ForeignType: Equatable, Sendable {
    case scalar(ScalarType)
    /// `void *` that nobody looks behind: null, or a handle that an earlier call answered.
    case pointer
    /// `const char *`, NUL-terminated, or null. An owned one is given to `free` once it is read.
    case string(owned: Bool)
    /// A struct by value.
    case structure([StructureField])

    /// The integer type that this is, if it is one.
    package var integer: ScalarType? {
        guard case .scalar(let scalar) = self, scalar.isInteger else { return nil }
        return scalar
    }
}

/// One member of a struct, of which either all members have names or none has.
package struct StructureField: Equatable, Sendable {
    package var name: String?
    package var type: ForeignType

    package init(name: String? = nil, type: ForeignType) {
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
