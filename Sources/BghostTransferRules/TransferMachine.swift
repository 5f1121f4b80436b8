// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The state machine of one transfer: its events, and their effects.
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
/// It is a value: the same events at the same times have the same effects. Times are nanoseconds of a
/// monotonic clock. The machine does not wait for an abandoned attempt, and ignores its later events.
package struct TransferMachine: Equatable, Sendable {
    /// An event of a transfer.
    package enum Event: Equatable, Sendable {
        /// The transfer is stored.
        case stored
        /// The requirements of the transfer were met or are no longer met.
        case requirements(isMet: Bool)
        /// The transfer has a slot for a connection.
        case slot
        /// The current attempt has ended.
        case ended(AttemptEnd)
        /// The time of the last `arm` effect has come. `bytes` is the number of bytes that the current
        /// attempt has transferred, `lastMove` the time of the last one.
        case deadline(bytes: UInt64, lastMove: UInt64)
        case pause
        case resume
        /// The operator or the plugin requests another attempt now.
        case retryNow
        case cancel
        /// A caller waits for the end.
        case attach
        /// A caller no longer waits.
        case detach
    }

    /// The result of an attempt.
    package enum AttemptEnd: Equatable, Sendable {
        case done(TransferAnswer)
        /// - Parameters:
        ///   - retryAfter: the delay that the server requested, nanoseconds.
        ///   - hasProgressed: whether the next attempt continues at a later position than this one did.
        case failed(
            TransferFault,
            TransferAnswer? = nil,
            retryAfter: UInt64? = nil,
            hasProgressed: Bool = false
        )
    }

    /// An action for the owner of the machine, which executes actions in order.
    package enum Effect: Equatable, Sendable {
        /// Send a `deadline` event at this time. It replaces the previous one.
        case arm(UInt64)
        /// Request a slot.
        case requestSlot
        /// Withdraw the request for a slot.
        case withdrawSlotRequest
        /// Release the slot.
        case free
        /// Start an attempt.
        case begin
        /// Discard the file and the position: the next attempt must start from the beginning.
        case forget
        /// Stop the current attempt.
        case abandon
        /// Store the status.
        case save
        /// Report the end to the waiting callers, or to the session.
        case end
    }

    /// The parameters of the decisions; times are nanoseconds.
    package struct Policy: Equatable, Sendable {
        /// The maximum delay before the second attempt; it doubles with each further attempt.
        var retryBase: UInt64 = 1_000_000_000
        var retryCap: UInt64 = 600_000_000_000
        /// The maximum number of attempts that start from the beginning because of wrong data.
        var restartsMax = 3
        /// Fewer bytes than this within an idle timeout count as none: otherwise a server that sends a byte
        /// now and then could occupy a connection for days.
        var idleBytesMin: UInt64 = 1024

        package init() {}
    }

    package private(set) var status: TransferStatus
    /// The number of attempts so far.
    package private(set) var attempt = 0
    /// The number of callers that wait for its end.
    package private(set) var attachments: Int
    /// The time of the next attempt.
    package private(set) var retryAt: UInt64?
    let policy: Policy
    private let idleTimeout: UInt64
    /// The end of the time for all attempts.
    private let deadline: UInt64
    private var isMet: Bool
    private var begunAt: UInt64 = 0
    /// The start of the current idle period, and the number of bytes at that time.
    private var windowStart: UInt64 = 0
    private var windowBytes: UInt64 = 0

    /// Creates the machine of a new transfer, or of one that an earlier daemon has started.
    ///
    /// - Parameters:
    ///   - deadline: the end of the time for all attempts.
    ///   - retryAt: the time of the next attempt, if the status is `retrying`.
    ///   - isMet: whether its requirements are met.
    package init(
        status: TransferStatus,
        idleTimeout: UInt64,
        deadline: UInt64,
        retryAt: UInt64? = nil,
        isMet: Bool = true,
        policy: Policy = Policy()
    ) {
        self.status = status
        self.retryAt = retryAt
        self.idleTimeout = max(1, idleTimeout)
        self.deadline = deadline
        self.isMet = isMet
        self.policy = policy
        attachments = status.isDetached ? 0 : 1
    }

    package var state: TransferState { status.state }

    /// Moves the stored times with the wall clock: the times of the monotonic clock stay.
    ///
    /// - Parameter step: how far the wall clock was set, nanoseconds.
    package mutating func wallClockWasSet(by step: Int64) {
        status.expiresAt = status.expiresAt?.addingClamped(step)
        guard let pause = status.pause else { return }
        status.pause?.until = pause.until.addingClamped(step)
    }

    /// Handles one event.
    ///
    /// Events after the end have no effect: the first end counts.
    ///
    /// - Parameters:
    ///   - unixNow: the time to record as its end, Unix nanoseconds.
    ///   - random: returns a number below its argument; the jitter uses it.
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
            handleEnd(end, now, unixNow, random, &effects)
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
            releaseSlot(&effects)
            status.state = .paused
            effects += [.arm(deadline), .save]
        case .resume:
            guard state == .paused else { return }
            wait(&effects)
            effects.append(.save)
        case .retryNow:
            guard state == .retrying else { return }
            effects.append(.arm(deadline))
            wait(&effects)
        case .cancel: end(.cancelled, status.fault, unixNow, &effects)
        }
    }

    // MARK: Waiting callers

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
        endPause()
        if isMet { effects.append(.requestSlot) }
    }

    /// Stops its attempt and releases its slot, or withdraws its request for a slot.
    private mutating func releaseSlot(_ effects: inout [Effect]) {
        switch state {
        case .active: effects += [.abandon, .free]
        case .waiting where isMet: effects.append(.withdrawSlotRequest)
        default: break
        }
        endPause()
    }

    private mutating func endPause() {
        retryAt = nil
        status.pause = nil
    }

    private mutating func require(_ isMet: Bool, _ effects: inout [Effect]) {
        guard isMet != self.isMet else { return }
        switch state {
        case .waiting:
            effects.append(isMet ? .requestSlot : .withdrawSlotRequest)
        case .active:
            // The received bytes remain; the next attempt continues from there.
            effects += [.abandon, .free, .arm(deadline)]
            status.state = .waiting
        default: break
        }
        self.isMet = isMet
    }

    private mutating func begin(_ now: UInt64, _ effects: inout [Effect]) {
        guard state == .waiting, isMet else {
            // The slot was granted while its request was withdrawn.
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
            handleEnd(
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

    private mutating func handleEnd(
        _ end: AttemptEnd,
        _ now: UInt64,
        _ unixNow: Int64,
        _ random: (UInt64) -> UInt64,
        _ effects: inout [Effect]
    ) {
        switch end {
        case .done(let answer):
            status.answer = answer
            // The attempt has ended, so there is nothing to abandon.
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
            let length = Int64(clamping: due - now)
            status.pause = RetryPause(until: unixNow.addingClamped(length), length: length)
            effects += [.arm(due), .save]
        }
    }

    /// The time of the next attempt; `nil` if there is none.
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
        // Add jitter, since the server may request the same delay of all clients; never retry earlier than
        // requested.
        if let retryAfter { return later(now, later(retryAfter, jitter(policy.retryBase, random))) }
        return later(now, jitter(delayMax(status.failures), random))
    }

    /// A random delay up to a maximum (full jitter), so that transfers that failed together do not retry
    /// together.
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
        releaseSlot(&effects)
        status.state = state
        status.fault = fault
        status.endedAt = unixNow
        effects += [.save, .end]
    }

    private func later(_ time: UInt64, _ delay: UInt64) -> UInt64 { time.addingClamped(delay) }
}
