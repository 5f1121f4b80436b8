// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostModel
internal import BghostPolicy

/// Time, which advances from one event to the next.
extension Engine {
    /// An event that time causes.
    ///
    /// At the same instant, they happen in the order of their ranks: a handler that wakes exactly
    /// at its deadline is in time.
    private enum Event {
        case sleep(UInt64)
        case fetch(UInt64)
        case limit(UInt64)
        case date
        /// A transfer may start.
        case transfer
        /// A transfer has timed out.
        case timeout(String)
        /// A session gets its wake.
        case wake(String)

        var rank: (Int, UInt64) {
            switch self {
            case .sleep(let number): (0, number)
            case .fetch(let number): (1, number)
            case .limit(let number): (2, number)
            case .date: (3, 0)
            case .transfer: (4, 0)
            case .timeout: (5, 0)
            case .wake: (6, 0)
            }
        }
    }

    /// Advances to the next event, and handles it.
    ///
    /// - Returns: `false` if there is no event until then; time has not advanced.
    mutating func step(until end: MonotonicInstant) -> Bool {
        guard let (at, event) = next, at <= end else { return false }
        move(to: at)
        switch event {
        case .sleep(let number):
            guard let sleep = sleeps.removeValue(forKey: number) else { break }
            actions.append(.answer(sleep.call, .awake))
        case .fetch(let number):
            guard let fetch = fetches.removeValue(forKey: number) else { break }
            actions.append(.answer(fetch.call, HostAnswer(.timedOut(fetch.timeout))))
        case .limit(let number): handle(.deadline, of: number)
        case .date: decide { $0.timerFired(now: $1, &$2) }
        case .transfer: break
        case .timeout(let id):
            let fault = (code: "expired", message: "the transfer took too long")
            self.end(id, OpenTransfer.End(state: "failed", fault: fault))
        case .wake(let session): beginWake(session)
        }
        return true
    }

    /// Advances time.
    ///
    /// - Parameter monotonic: all events until then must have been handled.
    mutating func move(to monotonic: MonotonicInstant) {
        guard monotonic > now.monotonic else { return }
        now.unix = now.unix.addingClamped(Int64(clamping: monotonic.since(now.monotonic)))
        now.monotonic = monotonic
    }

    private var next: (at: MonotonicInstant, event: Event)? {
        var all: [(at: MonotonicInstant, event: Event)] = []
        for (number, sleep) in sleeps { all.append((sleep.deadline, .sleep(number))) }
        for (number, fetch) in fetches { all.append((fetch.deadline, .fetch(number))) }
        for (number, run) in runs where run.limit != .never {
            all.append((run.limit, .limit(number)))
        }
        if let date = scheduler.nextDate {
            let wait = UInt64(max(0, date.subtractingClamped(now.unix)))
            all.append((now.monotonic + wait, .date))
        }
        for transfer in transfers.values where transfer.end == nil {
            all.append((transfer.deadline, .timeout(transfer.id)))
            guard transfer.earliest > now.unix else { continue }
            let wait = UInt64(transfer.earliest.subtractingClamped(now.unix))
            all.append((now.monotonic + wait, .transfer))
        }
        for (session, at) in wakes { all.append((at, .wake(session))) }
        let first = all.min {
            ($0.at, $0.event.rank.0, $0.event.rank.1)
                < ($1.at, $1.event.rank.0, $1.event.rank.1)
        }
        return first.map { (max($0.at, now.monotonic), $0.event) }
    }

    // MARK: Sleeps

    /// Starts a sleep.
    ///
    /// - Parameter until: monotonic nanoseconds.
    /// - Returns: `false` if the run is over.
    mutating func beginSleep(_ call: OpenCall, until: Int64) -> Bool {
        guard runs[call.run] != nil else { return false }
        let deadline = MonotonicInstant(nanoseconds: UInt64(max(0, until)))
        if deadline > now.monotonic {
            sleeps[call.number] = OpenSleep(call: call, deadline: deadline)
        } else {
            actions.append(.answer(call, .awake))
        }
        return true
    }

    mutating func wake(_ number: UInt64) {
        guard let sleep = sleeps.removeValue(forKey: number) else { return }
        actions.append(.answer(sleep.call, .cancelled))
    }
}
