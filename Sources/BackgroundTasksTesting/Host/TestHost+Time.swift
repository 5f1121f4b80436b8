// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
public import FoundationEssentials

/// Time and facts.
extension TestHost {
    /// A requirement on the machine, as in a task's `requires`.
    public enum Fact: String, Hashable, Sendable, CaseIterable {
        case externalPower, network, unmetered, idle, batteryNotLow, storage
    }

    /// The host's current time.
    public var now: Date { Date(unixNanoseconds: core.read { $0.now.unix }) }

    /// Advances time, and carries out all events on the way, in order.
    ///
    /// It first carries out pending effects: so `.zero` shows the effects of a new fact.
    ///
    /// - Parameter duration: precise to the nanosecond; a negative value counts as zero.
    /// - Throws: `TestHostError` with code `.stuck` if a run waits for something other than the
    ///   host's clock or the answer to a fetch, `.endless` if runs start again and again without
    ///   time advancing; `CancellationError` once the task is cancelled. Time then stays where it
    ///   is.
    public func advance(by duration: Duration) async throws {
        let nanoseconds = duration.clampedNanoseconds
        try await driver.exclusively { try await driver.advance(by: nanoseconds) }
    }

    /// Advances time to a date, as `advance(by:)`.
    ///
    /// - Parameter date: the new time.
    /// - Throws: `TestHostError` with code `.invalidTime` for a date in the past; otherwise as
    ///   `advance(by:)`.
    public func advance(to date: Date) async throws {
        let wait = date.unixNanoseconds.subtractingClamped(core.read { $0.now.unix })
        guard wait >= 0 else {
            throw TestHostError(
                .invalidTime,
                "\(Timestamp.text(unixNanoseconds: date.unixNanoseconds)) is over; `setClock(to:)`"
                    + " sets the clock back"
            )
        }
        try await advance(by: .nanoseconds(wait))
    }

    /// Sets the wall clock, which then jumps.
    ///
    /// Limits and sleeps are not affected.
    ///
    /// The next call that carries out effects also carries out those of the new time.
    ///
    /// - Parameter date: the new time.
    public func setClock(to date: Date) {
        core.change { $0.setClock(to: date.unixNanoseconds) }
    }

    /// Sets whether a requirement on the machine is met.
    ///
    /// Facts determine which runs start and which are cancelled; they do not affect the answers to
    /// fetches. The next call that carries out effects, such as `advance(by: .zero)`, carries out
    /// those of the fact.
    ///
    /// - Parameters:
    ///   - fact: the requirement.
    ///   - isTrue: whether it is met; `nil` if unknown.
    public func set(_ fact: Fact, to isTrue: Bool?) {
        guard let requirement = RequirementSet(name: fact.rawValue, probes: []) else { return }
        let value = isTrue.map { $0 ? FactValue.holds : .fails } ?? .unknown
        core.change { $0.set(requirement, value) }
    }
}

extension Date {
    /// Converts seconds and their fraction separately: nanoseconds since 1970 exceed the precision
    /// of a `Double`.
    init(unixNanoseconds: Int64) {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000_000_000)
    }

    /// Clamped to 64 bits and rounded to microseconds, since a `Date` of this magnitude is no more
    /// precise.
    var unixNanoseconds: Int64 {
        let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
        guard let whole = Int64(exactly: microseconds) else {
            return microseconds < 0 ? .min : .max
        }
        let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: 1000)
        return overflow ? (whole < 0 ? .min : .max) : nanoseconds
    }
}
