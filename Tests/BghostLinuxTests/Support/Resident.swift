// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux

/// An actor that lives on a reactor's thread and is told what happens there.
actor Resident: ReactorClient {
    enum Event: Equatable, Sendable {
        case ready(UInt64, Readiness)
        case deadline(now: MonotonicInstant)
        case usedCPU(Int32)
    }

    private final class Held {
        let timer: CPUTimer
        init(_ timer: consuming CPUTimer) { self.timer = timer }
    }

    nonisolated let reactor: Reactor
    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }
    private(set) var turns = 0
    private(set) var visits = 0
    private var events: [Event] = []
    private var descriptors: [UInt64: Int32] = [:]
    private var timers: [Held] = []
    private var waiting:
        (isEnough: ([Event]) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    init() throws {
        reactor = try Reactor()
    }

    /// Watches descriptors, each until it is ready for the first time.
    func watch(_ wanted: [(fd: Int32, token: UInt64)], for readiness: Readiness) throws {
        for (fd, token) in wanted {
            descriptors[token] = fd
            try reactor.watch(fd, for: readiness, token: token)
        }
    }

    func watchCPU(of pid: Int32, every period: Int64, value: Int32) -> Bool {
        guard let timer = reactor.watchCPU(ofProcess: pid, every: period, value: value) else {
            return false
        }
        timers.append(Held(timer))
        return true
    }

    func setDeadline(_ deadline: MonotonicInstant) { reactor.deadline = deadline }

    /// Gives the reactor's thread the priority that it has while a run is stopped.
    func raisePriority() { reactor.isUrgent = true }

    /// Yields until there are so many events: each yield is a job that queues the next one.
    ///
    /// - Parameter delay: sets a deadline so far ahead, in the turn of the first yield.
    /// - Returns: the number of yields.
    func yield(untilEvents count: Int, deadlineIn delay: UInt64? = nil) async -> Int {
        if let delay { reactor.deadline = Monotonic.now + delay }
        var yields = 0
        while events.count < count {
            await Task.yield()
            yields += 1
        }
        return yields
    }

    /// Sets a deadline, and then takes long in the same turn.
    func setDeadline(in delay: UInt64, andWorkFor duration: UInt64) -> MonotonicInstant {
        let began = Monotonic.now
        reactor.deadline = began + delay
        while Monotonic.now < began + duration {}
        return began + delay
    }

    /// The reactor's time before and after it looks at the clock, in a turn that takes this long.
    func timesAroundALook(
        after duration: UInt64
    ) -> (began: MonotonicInstant, before: MonotonicInstant, after: MonotonicInstant) {
        let began = Monotonic.now
        while Monotonic.now < began + duration {}
        let before = reactor.now
        reactor.updateNow()
        return (began, before, reactor.now)
    }

    /// When the thread woke for this turn, and when this call began, which takes so long.
    func awakening(
        andWorkFor duration: UInt64
    ) -> (awake: MonotonicInstant, began: MonotonicInstant) {
        let began = Monotonic.now
        while Monotonic.now < began + duration {}
        return (reactor.awakeSince, began)
    }

    /// Counts a visit, in two steps that anything in between would spoil.
    func visit() {
        let before = visits
        precondition(reactor.isCurrent)
        visits = before + 1
    }

    /// All that happened, once it is enough.
    func events(until isEnough: @escaping @Sendable ([Event]) -> Bool) async -> [Event] {
        guard !isEnough(events) else { return events }
        await withCheckedContinuation { waiting = (isEnough, $0) }
        return events
    }

    /// The time of a deadline once it has passed; the first is 1.
    ///
    /// - Returns: `nil` if more than these have happened.
    func deadline(_ number: Int) async -> MonotonicInstant? {
        let events = await events { $0.count >= number }
        guard events.count == number, case .deadline(let now) = events.last else { return nil }
        return now
    }

    private func note(_ event: Event) {
        events.append(event)
        guard let waiting, waiting.isEnough(events) else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    // MARK: The reactor's client

    nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {
        assumeIsolated {
            if let fd = $0.descriptors.removeValue(forKey: token) { $0.reactor.unwatch(fd) }
            $0.note(.ready(token, readiness))
        }
    }

    nonisolated func deadlinePassed(now: MonotonicInstant) {
        assumeIsolated { $0.note(.deadline(now: now)) }
    }

    nonisolated func usedCPU(_ value: Int32) {
        assumeIsolated { $0.note(.usedCPU(value)) }
    }

    nonisolated func turnEnded() {
        assumeIsolated { $0.turns += 1 }
    }
}
