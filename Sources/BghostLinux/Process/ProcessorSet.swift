// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// The processors on which a thread may run.
package struct ProcessorSet: Sendable {
    private var raw = bgs_processors()

    /// The empty set.
    private init() {}

    /// The processors of a thread; `nil` if the thread is gone, and on machines with more than 1024
    /// processors.
    init?(ofThread thread: Int32) {
        guard bgs_processors_of(thread, &raw) == 0 else { return nil }
    }

    /// The processors of the calling thread.
    package static var ofThisThread: ProcessorSet? { ProcessorSet(ofThread: 0) }

    /// The processor on which the calling thread runs now.
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

    /// Restricts a thread to these processors; 0 is the calling thread.
    ///
    /// - Returns: whether the kernel accepted it.
    @discardableResult
    package func bind(thread: Int32) -> Bool {
        withUnsafePointer(to: raw) { bgs_place_thread(thread, $0) == 0 }
    }

    /// Moves those threads of a process that may run on exactly these processors to other ones.
    ///
    /// Threads with any other set were placed deliberately and stay there.
    ///
    /// - Parameter limit: if the process has more threads than this, nothing is done.
    /// - Returns: whether the threads could be listed and did not exceed the limit.
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
