// SPDX-License-Identifier: Apache-2.0

/// Serial numbers of executors.
///
/// They wrap after 2^32 and skip 0 and the numbers in use.
package struct SerialNumbers: Sendable {
    private var last: UInt32

    /// Starts the sequence.
    ///
    /// - Parameter last: the number before the first one.
    package init(after last: UInt32 = 0) { self.last = last }

    package mutating func next(isUsed: (UInt32) -> Bool) -> UInt32 {
        repeat { last &+= 1 } while last == 0 || isUsed(last)
        return last
    }
}
