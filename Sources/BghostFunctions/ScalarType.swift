// SPDX-License-Identifier: Apache-2.0

/// A C scalar type in the signature language, with the sizes of LP64 Linux.
package enum ScalarType: String, CaseIterable, Equatable, Sendable {
    case bool, char, schar, uchar, short, ushort, int, uint
    case long, ulong, longlong, ulonglong
    case int8, uint8, int16, uint16, int32, uint32, int64, uint64
    case size, ssize, intptr, uintptr
    case float, double

    /// The size, which is also the alignment, bytes.
    package var byteCount: Int {
        switch self {
        case .bool, .char, .schar, .uchar, .int8, .uint8: 1
        case .short, .ushort, .int16, .uint16: 2
        case .int, .uint, .int32, .uint32, .float: 4
        case .long, .ulong, .longlong, .ulonglong, .int64, .uint64, .double: 8
        case .size, .ssize, .intptr, .uintptr: 8
        }
    }

    /// Whether it is a floating-point type.
    var isFloatingPoint: Bool { self == .float || self == .double }

    /// Whether it is an integer type; `bool` is not.
    var isInteger: Bool { !isFloatingPoint && self != .bool }

    /// Whether it has negative values.
    package var isSigned: Bool {
        switch self {
        case .schar, .short, .int, .long, .longlong, .int8, .int16, .int32, .int64: true
        case .ssize, .intptr, .float, .double: true
        case .char: Self.charIsSigned
        default: false
        }
    }

    /// The range of its integers; `nil` for `bool` and the floating-point types.
    package var integerRange: ClosedRange<Int128>? {
        guard isInteger else { return nil }
        let bits = Int128(byteCount * 8)
        let one: Int128 = 1
        return isSigned ? -(one << (bits - 1))...(one << (bits - 1)) - 1 : 0...(one << bits) - 1
    }

    /// Whether C passes it unchanged after `...`; smaller integers become `int`, `float` becomes `double`.
    var survivesPromotion: Bool { byteCount >= 4 && self != .float }

    // The ABIs of the two architectures differ in the sign of `char`.
    #if arch(arm64)
        private static let charIsSigned = false
    #else
        private static let charIsSigned = true
    #endif
}
