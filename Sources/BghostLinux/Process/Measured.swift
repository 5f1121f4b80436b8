// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The result of a piece of work, with the time that it took.
package struct Measured<Value: Sendable>: Sendable {
    package let value: Value
    /// Elapsed time, in nanoseconds.
    package let took: UInt64
    /// Processor time of the thread, in nanoseconds.
    package let processorTime: UInt64

    /// Performs and measures the work.
    package init(_ work: () -> Value) {
        let (begin, used) = (Monotonic.now, ThreadTime.now)
        value = work()
        took = Monotonic.now.since(begin)
        processorTime = ThreadTime.now &- used
    }
}
