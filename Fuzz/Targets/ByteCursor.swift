// SPDX-License-Identifier: Apache-2.0

/// Takes choices from an input, for targets whose subject is no text: zeros once it is used up.
package struct ByteCursor {
    private var rest: ArraySlice<UInt8>

    /// Begins with the first byte.
    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Whether all of it has been taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// What has not been taken.
    package var remaining: [UInt8] { Array(rest) }

    /// The next byte.
    package mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The next number, its highest byte first.
    package mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
        var value: T = 0
        for _ in 0..<MemoryLayout<T>.size { value = value << 8 | T(truncatingIfNeeded: byte()) }
        return value
    }

    /// A number below a bound above 0.
    package mutating func below(_ bound: Int) -> Int {
        Int(bound <= 256 ? UInt32(byte()) : integer(UInt32.self)) % bound
    }

    /// The lowest bit of the next byte.
    package mutating func flag() -> Bool { byte() & 1 != 0 }
}
