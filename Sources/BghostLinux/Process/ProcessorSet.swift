// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Processors on which a thread may run.
package struct ProcessorSet: Sendable {
    private var raw = bgs_processors()

    /// None.
    private init() {}

    /// Where a thread may run; `nil` if it is gone, and on machines with more than 1024 processors.
    package init?(ofThread thread: Int32) {
        guard bgs_processors_of(thread, &raw) == 0 else { return nil }
    }

    /// Where the calling thread may run.
    package static var ofThisThread: ProcessorSet? { ProcessorSet(ofThread: 0) }

    /// The one on which the calling thread runs at this moment.
    package static var current: ProcessorSet? {
        let number = bgs_processor()
        guard number >= 0, number < 1024 else { return nil }
        var set = ProcessorSet()
        set.withWords { $0[Int(number) / 64] = 1 << UInt64(number % 64) }
        return set
    }

    package var count: Int {
        var copy = self
        return copy.withWords { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    private mutating func withWords<T>(_ body: (UnsafeMutableBufferPointer<UInt64>) -> T) -> T {
        withUnsafeMutableBytes(of: &raw) { body($0.bindMemory(to: UInt64.self)) }
    }

    /// Has a thread run there only; 0 is the calling one.
    ///
    /// - Returns: whether the kernel did so.
    @discardableResult
    package func take(thread: Int32) -> Bool {
        withUnsafePointer(to: raw) { bgs_place_thread(thread, $0) == 0 }
    }

    /// Has those threads of a process that may run on exactly these processors run on others.
    ///
    /// Threads that somebody else has placed stay where they are.
    ///
    /// - Parameter limit: with more threads than this nothing is done.
    /// - Returns: whether the threads could be listed and were not too many.
    @discardableResult
    package func give(
        threadsOf process: Int32,
        to other: ProcessorSet,
        limit: Int32 = .max
    ) -> Bool {
        let count = withUnsafePointer(to: raw) { from in
            withUnsafePointer(to: other.raw) { bgs_move_threads(process, from, $0, limit) }
        }
        return count >= 0 && count <= limit
    }
}
