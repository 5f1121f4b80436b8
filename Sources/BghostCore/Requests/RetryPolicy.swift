// SPDX-License-Identifier: Apache-2.0

/// What follows a run that did not succeed.
///
/// Three counts are kept apart. A handler that says it failed, or that did not stop, uses up
/// `attemptsMax`. A worker that died uses up `lossesMax`, so that a request that kills its worker is
/// found out. A run that was interrupted through no fault of its own, because the daemon stopped or
/// what it required went away, uses up nothing and is always repeated.
package struct RetryPolicy: Equatable, Sendable {
    package enum Backoff: Equatable, Sendable {
        /// Apple's: what did not succeed is gone unless its handler submitted again.
        case none
        /// Between nothing and `base` doubled with each failure, at most `cap`.
        case exponential(base: Duration, cap: Duration)
    }

    package var backoff: Backoff
    /// How often a handler may fail until its request is dead, 1 or more.
    package var attemptsMax: Int
    /// How often its worker may die until its request is dead, 1 or more.
    package var lossesMax: Int

    package init(backoff: Backoff, attemptsMax: Int = 5, lossesMax: Int = 3) {
        self.backoff = backoff
        self.attemptsMax = max(1, attemptsMax)
        self.lossesMax = max(1, lossesMax)
    }

    /// The default of a kind.
    package init(kind: TaskKind) {
        switch kind {
        case .refresh: self.init(backoff: .none)
        case .processing:
            self.init(backoff: .exponential(base: .seconds(30), cap: .seconds(5 * 3600)))
        case .notificationAction:
            // It cannot be submitted again: whoever did it has done it once.
            self.init(
                backoff: .exponential(base: .seconds(5), cap: .seconds(600)),
                attemptsMax: 8,
                lossesMax: 5
            )
        // It is told again until it has been heard, or what there is to tell has gone.
        case .urlSession:
            self.init(
                backoff: .exponential(base: .seconds(30), cap: .seconds(3600)),
                attemptsMax: .max,
                lossesMax: .max
            )
        }
    }

    /// How a run ended, as far as it matters to what follows.
    package struct End: Equatable, Sendable {
        package var outcome: Outcome
        package var stopReason: StopReason?
        /// When the handler wants to be called again, nanoseconds from now.
        package var retryAfter: UInt64?
        /// Whether it ran in the daemon, whose death is then its own.
        package var wasInDaemon: Bool

        package init(
            outcome: Outcome,
            stopReason: StopReason? = nil,
            retryAfter: UInt64? = nil,
            wasInDaemon: Bool = false
        ) {
            self.outcome = outcome
            self.stopReason = stopReason
            self.retryAfter = retryAfter
            self.wasInDaemon = wasInDaemon
        }
    }

    /// What becomes of a request whose run has ended.
    ///
    /// - Parameters:
    ///   - now: Unix nanoseconds.
    ///   - random: a number below its argument; the jitter comes from it.
    package func next(
        _ request: Request,
        after end: End,
        now: Int64,
        random: (UInt64) -> UInt64
    ) -> AfterRun {
        // What somebody tried out by hand is theirs to try again.
        if request.isSimulated { return .consumed }
        switch Verdict(end) {
        case .done: return .consumed
        case .interrupted:
            var again = request
            again.counters.interruptions += 1
            again.earliestBegin = nil
            return .again(again)
        case .outOfMemory:
            guard case .exponential = backoff else { return .consumed }
            // The same limit would end it again.
            return .dead(request, reason: "it used more memory than its worker may")
        case .failed:
            return retry(request, \.failures, attemptsMax, end.retryAfter, now, random) {
                "it failed \($0) times"
            }
        case .lost:
            return retry(request, \.losses, lossesMax, nil, now, random) {
                "its worker died \($0) times"
            }
        }
    }

    private func retry(
        _ request: Request,
        _ counter: WritableKeyPath<AttemptCounters, Int>,
        _ countMax: Int,
        _ retryAfter: UInt64?,
        _ now: Int64,
        _ random: (UInt64) -> UInt64,
        _ reason: (Int) -> String
    ) -> AfterRun {
        guard case .exponential(let base, let cap) = backoff else { return .consumed }
        var again = request
        again.counters[keyPath: counter] += 1
        let count = again.counters[keyPath: counter]
        guard count < countMax else { return .dead(again, reason: reason(count)) }
        let delay = retryAfter ?? Self.delay(count, base, cap, random)
        let (due, overflow) = now.addingReportingOverflow(Int64(clamping: delay))
        again.earliestBegin = overflow ? .max : due
        if let latest = again.latestBegin, again.earliestBegin ?? 0 > latest {
            return .dead(again, reason: "its latest begin date comes before its next attempt")
        }
        return .again(again)
    }

    /// Full jitter: anything up to the exponential delay, so that what failed together does not come
    /// back together.
    private static func delay(
        _ count: Int,
        _ base: Duration,
        _ cap: Duration,
        _ random: (UInt64) -> UInt64
    ) -> UInt64 {
        let base = base.clampedNanoseconds
        let cap = cap.clampedNanoseconds
        let shift = UInt64(clamping: max(0, count - 1))
        let most = shift >= UInt64(base.leadingZeroBitCount) ? cap : min(cap, base << shift)
        return most == 0 ? 0 : random(most)
    }

    private enum Verdict {
        case done
        case interrupted
        case failed
        case outOfMemory
        case lost

        init(_ end: End) {
            // Whoever stops a run does not want it begun again, however it took that.
            if end.stopReason == .user {
                self = .done
                return
            }
            switch end.outcome {
            case .succeeded: self = .done
            case .failed: self = .failed
            case .cancelledClean, .abandoned:
                switch end.stopReason {
                case .drain, .condition: self = .interrupted
                case .expired, .quota, .user, nil: self = .failed
                }
            case .killed(.memory): self = .outOfMemory
            case .killed:
                switch end.stopReason {
                // It had its grace and did not use it, but it was not its time that was up.
                case .drain, .condition: self = .interrupted
                case .expired, .quota, .user, nil: self = .failed
                }
            case .crashed: self = .lost
            case .lost: self = end.wasInDaemon ? .lost : .interrupted
            }
        }
    }
}
