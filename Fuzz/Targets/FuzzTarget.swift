// SPDX-License-Identifier: Apache-2.0

/// A reader of what others wrote, as a function of bytes, with what must hold of its answer.
package struct FuzzTarget: Sendable {
    /// As `make fuzz TARGET=` and the folder of its corpus have it.
    package let name: String
    /// The longest input that is worth trying, bytes.
    package let bytesMax: Int
    /// Reads one input.
    ///
    /// A trap is a fault by itself; what is thrown says which property is broken.
    package let run: @Sendable ([UInt8]) throws(BrokenProperty) -> Void

    package init(
        _ name: String,
        bytesMax: Int,
        run: @escaping @Sendable ([UInt8]) throws(BrokenProperty) -> Void
    ) {
        self.name = name
        self.bytesMax = bytesMax
        self.run = run
    }
}

/// What does not hold of a reader's answer, though it must.
package struct BrokenProperty: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Says that something must hold.
package func require(
    _ holds: Bool,
    _ what: @autoclosure () -> String
) throws(BrokenProperty) {
    guard holds else { throw BrokenProperty(what()) }
}

/// Says that something must be there.
package func unwrap<Value>(
    _ value: Value?,
    _ what: @autoclosure () -> String
) throws(BrokenProperty) -> Value {
    guard let value else { throw BrokenProperty(what()) }
    return value
}
