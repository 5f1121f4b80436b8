// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux

// What Swift's own concurrency costs, and the timer heap beside it.
extension Subject {
    /// One task, from its making to its value.
    func hop() async {
        var samples = Samples(reserving: count)
        for round in 0..<(count + count / 10) {
            let before = Monotonic.now
            _ = await Task { round }.value
            if round >= count / 10 { samples.add(Monotonic.now.since(before)) }
        }
        samples.report()
    }

    /// Tasks that do nothing, all at once.
    func group() async {
        let before = Monotonic.now
        await withDiscardingTaskGroup { group in
            for _ in 0..<count { group.addTask {} }
        }
        Self.rate(count, since: before)
    }

    /// A limit as a child that sleeps, cancelled when the work is done.
    func sleepLimit() async {
        let before = Monotonic.now
        for _ in 0..<count {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {}
                group.addTask { try? await Task.sleep(for: .seconds(25)) }
                await group.next()
                group.cancelAll()
            }
        }
        Self.each(count, since: before)
    }

    /// A limit armed and disarmed, as the host does it for each run.
    func timer() {
        var heap = TimerHeap()
        // The run that a slot has; the number of an earlier one does not match.
        var live = [UInt64](repeating: 0, count: 256)
        let before = Monotonic.now
        for number in 1...UInt64(count) {
            let slot = Int(number & 255)
            live[slot] = number
            let deadline = before + 25_000_000_000 + number
            heap.insert(deadline: deadline.nanoseconds, token: number)
            live[slot] = 0
            heap.forget { token, _ in live[Int(token & 255)] == token }
        }
        Self.each(count, since: before)
        precondition(heap.count == 0, "a limit is still armed")
    }

    static func rate(_ count: Int, since before: MonotonicInstant) {
        let seconds = Double(Monotonic.now.since(before)) / 1e9
        print("per-second \((Double(count) / seconds).fixed(0))")
    }

    static func each(_ count: Int, since before: MonotonicInstant) {
        print("each \((Double(Monotonic.now.since(before)) / Double(count) / 1e3).fixed(4))")
    }
}
