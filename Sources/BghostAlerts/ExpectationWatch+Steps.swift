// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel

/// Steps of the wall clock: an expectation is an interval, and does not follow them.
extension ExpectationWatch {
    /// Moves all dates that count from an event, because the wall clock was set.
    ///
    /// The cost is O(n log n) in the watched tasks, requests and runs.
    ///
    /// - Parameters:
    ///   - step: how far the clock was set, nanoseconds.
    ///   - now: what the clocks show since.
    package mutating func followClock(by step: Int64, now: Moment) {
        // All of them are armed again below.
        dates = [:]
        heap = TimerHeap()
        for name in subjects.keys.sorted() {
            subjects[name]?.move(by: step)
            guard let subject = subjects[name] else { continue }
            changes.append(.progress(subject.progress))
            armSuccess(name)
            for (identifier, waiter) in subject.waiting.sorted(by: { $0.key < $1.key }) {
                follow(waiter, identifier, of: name, by: step, now: now.unix)
            }
        }
        for (id, run) in runs.sorted(by: { $0.key < $1.key }) {
            guard let runtime = subjects[run.task]?.expectation.runtime else { continue }
            let lasted = Int64(clamping: now.monotonic.since(run.startedAt))
            let left = max(0, Self.nanoseconds(runtime).subtractingClamped(lasted))
            // One that was found takes no second look.
            guard subjects[run.task]?.longRuns.contains(id) == false else { continue }
            let number = arm(.run(id), at: now.unix.addingClamped(left))
            runs[id]?.number = number
        }
    }

    /// The wait of a request that was due goes on; a date that has not come stays one.
    private mutating func follow(
        _ waiter: Waiter,
        _ identifier: String,
        of task: String,
        by step: Int64,
        now: Int64
    ) {
        guard let start = subjects[task]?.expectation.start.map(Self.nanoseconds) else { return }
        var waiter = waiter
        if waiter.since <= now.subtractingClamped(step) {
            waiter.shift = waiter.shift.addingClamped(step)
        } else if waiter.since < now {
            waiter.shift = now.subtractingClamped(waiter.due)
        }
        // The scheduler may move its date too, which the next look finds.
        let nextLook = now.addingClamped(max(start, Self.lookMin))
        watch(waiter, identifier, of: task, at: min(waiter.since.addingClamped(start), nextLook))
    }
}

extension ExpectationWatch.Subject {
    fileprivate mutating func move(by step: Int64) {
        progress.since = progress.since.addingClamped(step)
        progress.lastSuccess = progress.lastSuccess?.addingClamped(step)
        storedSuccess = progress.lastSuccess
        successDue = nil
    }
}
