// SPDX-License-Identifier: Apache-2.0

/// A hash of bytes that arrive in pieces.
package protocol HashFunction: Sendable {
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    /// The hash of all bytes so far.
    func finalize() -> [UInt8]
}

extension HashFunction {
    package mutating func update(data: [UInt8]) {
        data.withUnsafeBytes { update(bufferPointer: $0) }
    }

    package static func hash(data: [UInt8]) -> [UInt8] {
        var function = Self()
        function.update(data: data)
        return function.finalize()
    }
}
