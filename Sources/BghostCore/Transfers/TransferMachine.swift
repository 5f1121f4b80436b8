// SPDX-License-Identifier: Apache-2.0

/// The life of one transfer: what may happen to it, and what follows.
///
/// ```
///          stored           slot             ended: done
///  queued ────────► waiting ─────► active ──────────────────► done
///                   ▲  ▲  ▲         │ │ │
///           resume  │  │  └─────────┘ │ │ ended: final fault, time is over
///                   │  │ requirements │ └────────────────────► failed
///         paused ───┘  │ lost         │ ended: fault
///           ▲          │   deadline   ▼                  cancel, from anywhere
///           └─ pause   └──────────── retrying                  └─► cancelled
/// ```
///
/// It is a value: the same events at the same moments give the same effects. Times are nanoseconds
/// of a clock that only goes forward. An attempt is abandoned without its cooperation: what it says
/// afterwards is not heard.
package struct TransferMachine: Equatable, Sendable {
    /// What happens to a transfer.
    package enum Event: Equatable, Sendable {
        /// It is written down.
        case stored
        /// Whether what it waits for is there.
        case requirements(isMet: Bool)
        /// It may open a connection.
        case slot
        /// The attempt under way came to its end.
        case ended(AttemptEnd)
        /// The moment that the machine had asked for has come. What the attempt under way has moved
        /// so far, in bytes, and when last.
        case deadline(bytes: UInt64, lastMove: UInt64)
        case pause
        case resume
        /// Try again now and not later.
        case hurry
        case cancel
        /// Somebody waits for its end.
        case attach
        /// Somebody waits no more.
        case detach
    }

    /// How an attempt ended.
    package enum AttemptEnd: Equatable, Sendable {
        case done(TransferAnswer)
        /// - Parameters:
        ///   - retryAfter: what the server asks for, nanoseconds.
        ///   - hasProgressed: whether the next attempt begins further on than this one did.
        case failed(
            TransferFault,
            TransferAnswer? = nil,
            retryAfter: UInt64? = nil,
            hasProgressed: Bool = false
        )
    }

    /// What its owner must do, in this order.
    package enum Effect: Equatable, Sendable {
        /// Ask for a `deadline` event at this moment. It replaces the one before.
        case arm(UInt64)
        /// Give it a slot when there is one.
        case want
        /// It wants none any more.
        case unwant
        /// Take its slot back.
        case free
        /// Begin an attempt.
        case begin
        /// Begin from nothing next time: what is there is not to be built upon.
        case forget
        /// End the attempt under way.
        case abandon
        /// Write its status down.
        case save
        /// Tell those who wait, or its session.
        case end
    }

    /// The numbers behind the decisions; times are nanoseconds.
    package struct Policy: Equatable, Sendable {
        /// The longest wait before the second attempt; doubled with each further one.
        package var retryBase: UInt64 = 1_000_000_000
        package var retryCap: UInt64 = 600_000_000_000
        /// How often in all it may begin anew because what came was wrong.
        package var restartsMax = 3
        /// Fewer bytes than this within an idle timeout are none: who sends a byte now and then
        /// would hold a connection for days.
        package var idleBytesMin: UInt64 = 1024

        package init() {}
    }

    package private(set) var status: TransferStatus
    /// Grows with each attempt.
    package private(set) var attempt = 0
    /// How many wait for its end.
    package private(set) var attachments: Int
    /// When it is tried again.
    package private(set) var retryAt: UInt64?
    package let policy: Policy
    private let idleTimeout: UInt64
    /// When the time for all attempts is over.
    private let deadline: UInt64
    private var isMet: Bool
    private var begunAt: UInt64 = 0
    /// Since when, and at which count, the bytes of an idle timeout are counted.
    private var windowStart: UInt64 = 0
    private var windowBytes: UInt64 = 0

    /// A transfer that begins, or one that is taken over from before.
    ///
    /// - Parameters:
    ///   - deadline: when the time for all its attempts is over.
    ///   - isMet: whether what it requires is there.
    package init(
        status: TransferStatus,
        idleTimeout: UInt64,
        deadline: UInt64,
        isMet: Bool = true,
        policy: Policy = Policy()
    ) {
        self.status = status
        self.idleTimeout = max(1, idleTimeout)
        self.deadline = deadline
        self.isMet = isMet
        self.policy = policy
        attachments = status.isDetached ? 0 : 1
    }

    package var state: TransferState { status.state }

    /// Takes one event.
    ///
    /// Events that come too late change nothing: the first end counts.
    ///
    /// - Parameters:
    ///   - unixNow: what is written down as the time of its end.
    ///   - random: a number below its argument; the jitter comes from it.
    package mutating func handle(
        _ event: Event,
        now: UInt64,
        unixNow: Int64 = 0,
        random: (UInt64) -> UInt64,
        _ effects: inout [Effect]
    ) {
        guard !state.isTerminal else { return }
        switch event {
        case .attach: attach(&effects)
        case .detach: detach(&effects)
        case .requirements(let isMet): require(isMet, &effects)
        case .stored:
            guard state == .queued else { return }
            effects.append(.arm(deadline))
            wait(&effects)
        case .slot: begin(now, &effects)
        case .ended(let end):
            guard state == .active else { return }
            take(end, now, unixNow, random, &effects)
        case .deadline(let bytes, let lastMove):
            guard now < deadline else {
                let fault = TransferFault(
                    .expired,
                    "its time was over before it was complete"
                        + (status.fault.map { "; the last attempt: \($0.detail)" } ?? "")
                )
                return end(.failed, fault, unixNow, &effects)
            }
            due(bytes, lastMove, now, unixNow, random, &effects)
        case .pause:
            guard state != .paused, state != .queued else { return }
            leave(&effects)
            status.state = .paused
            effects += [.arm(deadline), .save]
        case .resume:
            guard state == .paused else { return }
            wait(&effects)
            effects.append(.save)
        case .hurry:
            guard state == .retrying else { return }
            effects.append(.arm(deadline))
            wait(&effects)
        case .cancel: end(.cancelled, status.fault, unixNow, &effects)
        }
    }

    // MARK: Who waits

    private mutating func attach(_ effects: inout [Effect]) {
        attachments += 1
        guard status.isDetached else { return }
        status.isDetached = false
        effects.append(.save)
    }

    private mutating func detach(_ effects: inout [Effect]) {
        guard attachments > 0 else { return }
        attachments -= 1
        guard attachments == 0 else { return }
        status.isDetached = true
        effects.append(.save)
    }

    // MARK: Waiting

    private mutating func wait(_ effects: inout [Effect]) {
        status.state = .waiting
        retryAt = nil
        if isMet { effects.append(.want) }
    }

    /// Lets go of whatever it has or wants.
    private mutating func leave(_ effects: inout [Effect]) {
        switch state {
        case .active: effects += [.abandon, .free]
        case .waiting where isMet: effects.append(.unwant)
        default: break
        }
        retryAt = nil
    }

    private mutating func require(_ isMet: Bool, _ effects: inout [Effect]) {
        guard isMet != self.isMet else { return }
        switch state {
        case .waiting:
            effects.append(isMet ? .want : .unwant)
        case .active:
            // What it has stays, and it goes on from there.
            effects += [.abandon, .free, .arm(deadline)]
            status.state = .waiting
        default: break
        }
        self.isMet = isMet
    }

    private mutating func begin(_ now: UInt64, _ effects: inout [Effect]) {
        guard state == .waiting, isMet else {
            // It was given while it was given up.
            effects.append(.free)
            return
        }
        status.state = .active
        attempt += 1
        begunAt = now
        windowStart = now
        windowBytes = 0
        effects += [.arm(min(deadline, later(now, idleTimeout))), .begin]
    }

    // MARK: Attempts

    private mutating func due(
        _ bytes: UInt64,
        _ lastMove: UInt64,
        _ now: UInt64,
        _ unixNow: Int64,
        _ random: (UInt64) -> UInt64,
        _ effects: inout [Effect]
    ) {
        switch state {
        case .active:
            let silentSince = max(lastMove, begunAt)
            let isSilent = now >= later(silentSince, idleTimeout)
            let isOver = now >= later(windowStart, idleTimeout)
            guard isSilent || isOver && bytes &- windowBytes < policy.idleBytesMin else {
                if isOver {
                    windowStart = now
                    windowBytes = bytes
                }
                effects.append(.arm(min(deadline, later(silentSince, idleTimeout))))
                return
            }
            effects.append(.abandon)
            let fault = TransferFault(
                .idle,
                "nothing, or next to nothing, moved for \(idleTimeout / 1_000_000_000) s"
            )
            take(
                .failed(fault, hasProgressed: bytes >= policy.idleBytesMin),
                now,
                unixNow,
                random,
                &effects
            )
        case .retrying:
            guard let retryAt, now >= retryAt else {
                return effects.append(.arm(min(deadline, self.retryAt ?? deadline)))
            }
            effects.append(.arm(deadline))
            wait(&effects)
        case .queued, .waiting, .paused: effects.append(.arm(deadline))
        case .done, .failed, .cancelled: break
        }
    }

    private mutating func take(
        _ end: AttemptEnd,
        _ now: UInt64,
        _ unixNow: Int64,
        _ random: (UInt64) -> UInt64,
        _ effects: inout [Effect]
    ) {
        switch end {
        case .done(let answer):
            status.answer = answer
            // There is nothing to abandon: it has ended.
            status.state = .done
            status.fault = nil
            status.endedAt = unixNow
            effects += [.free, .save, .end]
        case .failed(let fault, let answer, let retryAfter, let hasProgressed):
            status.fault = fault
            effects.append(.free)
            let due = retry(fault, retryAfter, hasProgressed, now, random, &effects)
            guard let due, due < deadline else {
                status.state = .failed
                status.answer = answer
                status.endedAt = unixNow
                effects += [.save, .end]
                return
            }
            status.state = .retrying
            retryAt = due
            effects += [.arm(due), .save]
        }
    }

    /// When to try again; `nil` if it is over.
    private mutating func retry(
        _ fault: TransferFault,
        _ retryAfter: UInt64?,
        _ hasProgressed: Bool,
        _ now: UInt64,
        _ random: (UInt64) -> UInt64,
        _ effects: inout [Effect]
    ) -> UInt64? {
        switch fault.verdict {
        case .final: return nil
        case .afresh:
            status.restarts += 1
            guard status.restarts <= policy.restartsMax else { return nil }
            effects.append(.forget)
            status.failures += 1
        case .again:
            status.failures = hasProgressed ? 1 : status.failures + 1
        }
        // Spread, since the server says the same to everyone; never earlier than it says.
        if let retryAfter { return later(now, later(retryAfter, jitter(policy.retryBase, random))) }
        return later(now, jitter(delayMax(status.failures), random))
    }

    /// Full jitter: what failed together does not come back together.
    private func jitter(_ most: UInt64, _ random: (UInt64) -> UInt64) -> UInt64 {
        most == 0 ? 0 : random(most)
    }

    private func delayMax(_ failures: Int) -> UInt64 {
        let shift = UInt64(clamping: max(0, failures - 1))
        guard shift < UInt64(policy.retryBase.leadingZeroBitCount) else { return policy.retryCap }
        return min(policy.retryCap, policy.retryBase << shift)
    }

    private mutating func end(
        _ state: TransferState,
        _ fault: TransferFault?,
        _ unixNow: Int64,
        _ effects: inout [Effect]
    ) {
        leave(&effects)
        status.state = state
        status.fault = fault
        status.endedAt = unixNow
        effects += [.save, .end]
    }

    private func later(_ time: UInt64, _ delay: UInt64) -> UInt64 {
        let (sum, overflow) = time.addingReportingOverflow(delay)
        return overflow ? .max : sum
    }
}
