// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
public import FoundationEssentials

/// Time and facts.
extension TestHost {
    /// What may be required of the machine, as in a task's `requires`.
    public enum Fact: String, Hashable, Sendable, CaseIterable {
        case externalPower, network, unmetered, idle, batteryNotLow, storage
    }

    /// The time now.
    public var now: Date { Date(unixNanoseconds: core.look { $0.now.unix }) }

    /// Lets time pass, through all that happens meanwhile, in order.
    ///
    /// At first it carries out what is left to do: so `.zero` shows what a new fact leads to.
    ///
    /// - Parameter duration: to the nanosecond; a negative one is zero.
    /// - Throws: `TestHostError`, code `.stuck` if a run waits for something other than the host's
    ///   clock or the answer to a fetch, `.endless` if runs begin without any time passing;
    ///   `CancellationError` once the task is cancelled. Time then stands where it is.
    public func advance(by duration: Duration) async throws {
        let nanoseconds = duration.clampedNanoseconds
        try await driver.exclusively { try await driver.advance(by: nanoseconds) }
    }

    /// Lets time pass up to a date, as `advance(by:)` does.
    ///
    /// - Throws: `TestHostError`, code `.invalidTime` for a date that is over; as of `advance(by:)`.
    public func advance(to date: Date) async throws {
        let wait = date.unixNanoseconds.subtractingClamped(core.look { $0.now.unix })
        guard wait >= 0 else {
            throw TestHostError(
                .invalidTime,
                "\(Timestamp.text(unixNanoseconds: date.unixNanoseconds)) is over; `setClock(to:)`"
                    + " sets the clock back"
            )
        }
        try await advance(by: .nanoseconds(wait))
    }

    /// Sets the wall clock, which then jumps; limits and sleeps are not affected.
    ///
    /// What follows is carried out by the next call that does so.
    public func setClock(to date: Date) {
        core.change { $0.setClock(to: date.unixNanoseconds) }
    }

    /// Has the machine offer something, or not any more.
    ///
    /// It decides which runs begin, and which are asked to stop; fetches are answered by the test in
    /// any case. What follows is carried out by the next call that does so, such as
    /// `advance(by: .zero)`.
    ///
    /// - Parameter isTrue: `nil` if it is not known.
    public func set(_ fact: Fact, to isTrue: Bool?) {
        guard let requirement = RequirementSet(name: fact.rawValue, probes: []) else { return }
        let value = isTrue.map { $0 ? FactValue.holds : .fails } ?? .unknown
        core.change { $0.set(requirement, value) }
    }
}

extension Date {
    /// Seconds and their fraction apart: nanoseconds since 1970 are more than a `Double` holds.
    init(unixNanoseconds: Int64) {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000_000_000)
    }

    /// Within what 64 bits can say, in whole microseconds: a `Date` of this age is no finer.
    var unixNanoseconds: Int64 {
        let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
        guard let whole = Int64(exactly: microseconds) else {
            return microseconds < 0 ? .min : .max
        }
        let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: 1000)
        return overflow ? (whole < 0 ? .min : .max) : nanoseconds
    }
}
