// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostServices

/// Callers that wait for a row of the audit, each for a bounded time: a disk may hang.
///
/// The host owns it. Use it on the reactor's thread only. A wait costs a deadline.
final class RowWaits {
    private struct Waiting {
        var deadline: MonotonicInstant
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// How long each caller waits, nanoseconds.
    let bound: UInt64
    private let clock: DaemonClock
    private let deadlines: Deadlines
    private var waiting: [UInt64: Waiting] = [:]
    private var last: UInt64 = 0
    /// When the next caller has waited for too long; `nil` if none waits.
    private var deadline: MonotonicInstant?

    init(_ clock: DaemonClock, _ deadlines: Deadlines, bound: UInt64) {
        self.clock = clock
        self.deadlines = deadlines
        self.bound = bound
    }

    /// Waits until `resume` is called for a number.
    ///
    /// - Parameter begin: gets the number; it may call `resume` at once.
    /// - Returns: whether that came in time.
    nonisolated(nonsending) func wait(_ begin: (UInt64) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            last &+= 1
            let number = last
            let end = clock.monotonic + bound
            waiting[number] = Waiting(deadline: end, continuation: continuation)
            begin(number)
            guard waiting[number] != nil, deadline == nil else { return }
            arm(end)
        }
    }

    /// Whether a caller still waits.
    func isWaiting(_ number: UInt64) -> Bool { waiting[number] != nil }

    /// Ends a wait, unless it has ended.
    func resume(_ number: UInt64) {
        waiting.removeValue(forKey: number)?.continuation.resume(returning: true)
        guard waiting.isEmpty, deadline != nil else { return }
        deadline = nil
        deadlines.forget()
    }

    func isLive(_ deadline: MonotonicInstant) -> Bool { deadline == self.deadline }

    /// Ends the waits that took too long.
    func deadlinePassed() {
        deadline = nil
        let now = clock.monotonic
        for (number, late) in waiting.filter({ $0.value.deadline <= now }) {
            waiting[number] = nil
            late.continuation.resume(returning: false)
        }
        if let next = waiting.values.map(\.deadline).min() { arm(next) }
    }

    private func arm(_ deadline: MonotonicInstant) {
        self.deadline = deadline
        deadlines.arm(.auditRow, at: deadline)
    }
}
