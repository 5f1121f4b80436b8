// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

extension RetryPolicy {
    /// The properties of a run's end that determine whether it is retried.
    package struct End: Equatable, Sendable {
        package var outcome: Outcome
        package var stopReason: StopReason?
        /// The delay that the handler requested, nanoseconds from now; `nil` if it requested none.
        package var retryAfter: UInt64?
        /// Whether the handler reported a permanent failure.
        package var isFinal: Bool
        /// Whether it ran in the daemon's process; then the death of the daemon counts as a loss of the run.
        package var wasInDaemon: Bool
        /// Whether an executor has begun the run; if not, the request may still miss its latest begin date.
        package var hasBegun: Bool

        package init(
            outcome: Outcome,
            stopReason: StopReason? = nil,
            retryAfter: UInt64? = nil,
            isFinal: Bool = false,
            wasInDaemon: Bool = false,
            hasBegun: Bool = true
        ) {
            self.outcome = outcome
            self.stopReason = stopReason
            self.retryAfter = retryAfter
            self.isFinal = isFinal
            self.wasInDaemon = wasInDaemon
            self.hasBegun = hasBegun
        }
    }

    /// Decides what happens to a request whose run has ended.
    ///
    /// - Parameters:
    ///   - request: the request of the run.
    ///   - end: how the run ended.
    ///   - now: Unix nanoseconds.
    ///   - random: returns a number below its argument; the jitter uses it.
    package func next(
        _ request: Request,
        after end: End,
        now: Int64,
        random: (UInt64) -> UInt64
    ) -> AfterRun {
        // The daemon does not retry a manual run; the operator may trigger it again.
        if request.isManual { return .consumed }
        switch Verdict(end) {
        case .done: return .consumed
        case .interrupted:
            var again = Self.repeated(request, end)
            again.counters.interruptions += 1
            return .again(again)
        case .outOfMemory:
            guard case .exponential = backoff else { return .consumed }
            // Another attempt would hit the same limit.
            return .dead(request, reason: "it used more memory than its worker may")
        case .final:
            guard case .exponential = backoff else { return .consumed }
            var dead = request
            dead.counters.failures += 1
            return .dead(dead, reason: "its handler said that it would fail again")
        case .failed:
            return retry(request, end, \.failures, attemptsMax, now, random) {
                "it failed \($0) times"
            }
        case .lost:
            return retry(request, end, \.losses, lossesMax, now, random) {
                "its worker died \($0) times"
            }
        }
    }

    private func retry(
        _ request: Request,
        _ end: End,
        _ counter: WritableKeyPath<AttemptCounters, Int>,
        _ countMax: Int,
        _ now: Int64,
        _ random: (UInt64) -> UInt64,
        _ reason: (Int) -> String
    ) -> AfterRun {
        guard case .exponential(let base, let cap) = backoff else { return .consumed }
        var dead = request
        dead.counters[keyPath: counter] += 1
        let count = dead.counters[keyPath: counter]
        guard count < countMax else { return .dead(dead, reason: reason(count)) }
        // A worker that died could not request a delay.
        let wanted = counter == \.failures ? end.retryAfter : nil
        let delay = wanted ?? Self.delay(count, base, cap, random)
        let (due, overflow) = now.addingReportingOverflow(Int64(clamping: delay))
        var again = Self.repeated(dead, end)
        again.earliestBegin = overflow ? .max : due
        if let latest = again.latestBegin, again.earliestBegin ?? 0 > latest {
            return .dead(dead, reason: "its latest begin date comes before its next attempt")
        }
        return .again(again)
    }

    /// The request for another run, to which the dates of its first one do not apply.
    private static func repeated(_ request: Request, _ end: End) -> Request {
        var again = request
        again.removeBeginDates()
        if !end.hasBegun { again.latestBegin = request.latestBegin }
        return again
    }

    /// A random delay below the exponential one (full jitter), so that requests that failed together do not
    /// retry together.
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
        /// The handler reported a permanent failure.
        case final
        case outOfMemory
        case lost

        init(_ end: End) {
            // The operator stopped the run, so do not retry it, independently of its outcome.
            if end.stopReason == .user {
                self = .done
                return
            }
            switch end.outcome {
            case .succeeded: self = .done
            case .failed: self = end.isFinal ? .final : .failed
            case .cancelledClean, .abandoned:
                switch end.stopReason {
                case .drain, .condition: self = .interrupted
                case .expired, .quota, .user, nil: self = .failed
                }
            case .killed(.memory): self = .outOfMemory
            case .killed(.graceExceeded), .killed(.cpu), .killed(.processes), .killed(.output),
                .killed(.data), .killed(.startTimeout), .killed(.protocolFault):
                switch end.stopReason {
                // It exceeded its grace, but it was not cancelled because of its own runtime or resources.
                case .drain, .condition: self = .interrupted
                case .expired, .quota, .user, nil: self = .failed
                }
            case .crashed: self = .lost
            case .lost: self = end.wasInDaemon ? .lost : .interrupted
            }
        }
    }
}
