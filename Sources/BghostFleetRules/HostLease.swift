// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The lease of this host in a fleet, as the host itself may rely on it.
///
/// It counts from the sending of the last call that the fleet's store has answered, so the host ends its own
/// work before the store lets another host own its partitions. All instants are in time since boot, also
/// while the machine is suspended. It is a pure value; the owner of the connection passes events and carries
/// out the effects. Each call is O(1).
package struct HostLease: Sendable {
    package enum State: Equatable, Sendable {
        /// It owns nothing: it has not registered, or the store has refused it.
        case outside
        /// It may do everything.
        case member
        /// It starts nothing, and asks exclusive runs to stop.
        case waning
        /// It kills exclusive runs.
        case standingDown
        /// Other runs go on, and their ends wait in memory for an answer of the store.
        case severed
        /// It starts nothing and gives its partitions back.
        case leaving
    }

    package enum Effect: Equatable, Sendable {
        /// Send a batch, also an empty one: the lease has to be renewed.
        case renew
        /// Start nothing, and ask the exclusive runs of the fleet to stop.
        case stopExclusive
        /// Kill the exclusive runs of the fleet; they must be dead within 6 % of the lease.
        case killExclusive
        /// Keep the ends of runs in memory, and connect again.
        case sever
        /// Runs may start again; nothing was lost.
        case restore
        /// Kill all runs of the fleet, forget its requests, and register again.
        case killAll
    }

    /// How much of the lease has passed, as far as the host acts on it; each level includes the ones before.
    private enum Level: Int, CaseIterable, Comparable, Sendable {
        case valid, waning, standingDown, severed

        /// The part of the lease after which it begins, percent.
        ///
        /// Exclusive runs have from 60 to 77 for their grace, and the kill has until 83. The rest is for the
        /// different speeds of two clocks and for a busy machine.
        var percent: UInt64 {
            switch self {
            case .valid: 0
            case .waning: 60
            case .standingDown: 77
            case .severed: 83
            }
        }

        var effect: Effect {
            switch self {
            case .valid: .restore
            case .waning: .stopExclusive
            case .standingDown: .killExclusive
            case .severed: .sever
            }
        }

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The length of the lease, nanoseconds.
    package let length: UInt64
    /// The registration that is in force; `nil` outside of the fleet.
    private var registration: FenceNumber?
    /// When the last answered call was sent; `nil` outside of the fleet.
    private var validSince: MonotonicInstant?
    /// When the last call was sent, answered or not.
    private var sentAt: MonotonicInstant = .zero
    private var level = Level.valid
    private var isLeaving = false

    /// - Parameter length: nanoseconds.
    package init(length: UInt64) { self.length = length }

    package var state: State {
        guard validSince != nil else { return .outside }
        return switch level {
        case .valid: isLeaving ? .leaving : .member
        case .waning: .waning
        case .standingDown: .standingDown
        case .severed: .severed
        }
    }

    /// Whether a run may start.
    ///
    /// Ask it where a run starts: a process that was stopped or starved has not had its timers yet.
    package func mayStart(now: MonotonicInstant) -> Bool {
        guard let validSince, !isLeaving else { return false }
        return level == .valid && now < end(of: .valid, since: validSince)
    }

    /// Until when runs may start without another answer; zero if none may.
    package var startsUntil: MonotonicInstant {
        guard let validSince, level == .valid, !isLeaving else { return .zero }
        return end(of: .valid, since: validSince)
    }

    /// When to call `timePassed` next; `never` outside of the fleet.
    package var nextDeadline: MonotonicInstant {
        guard let validSince else { return .never }
        return min(sentAt + length / 5, end(of: level, since: validSince))
    }

    /// Records that the store has registered this host.
    ///
    /// - Parameters:
    ///   - registration: from here on, only answers to calls of it count.
    ///   - sentAt: when the registration was sent.
    package mutating func registered(
        _ registration: FenceNumber,
        sentAt: MonotonicInstant,
        now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        self.registration = registration
        validSince = sentAt
        self.sentAt = max(self.sentAt, sentAt)
        level = .valid
        isLeaving = false
        timePassed(now: now, &effects)
    }

    /// Records that a call is sent that renews the lease if the store answers it.
    package mutating func sent(at instant: MonotonicInstant) { sentAt = max(sentAt, instant) }

    /// Records that the store has answered a call of this host as one of a live host.
    ///
    /// - Parameters:
    ///   - registration: that of the call; an answer to a call of another one changes nothing.
    ///   - sentAt: when that call was sent. A late answer may leave the lease as old as it was.
    package mutating func answered(
        _ registration: FenceNumber,
        sentAt: MonotonicInstant,
        now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        guard let before = validSince, self.registration == registration else { return }
        let since = max(before, sentAt)
        validSince = since
        self.sentAt = max(self.sentAt, sentAt)
        let reached = level(now: now, since: since)
        if reached < level {
            level = reached
            if reached == .valid, !isLeaving { effects.append(reached.effect) }
        }
        timePassed(now: now, &effects)
    }

    /// Ends the membership: the store has refused this host, or does not have its last batches.
    ///
    /// - Parameter registration: that of the call. A late refusal of another one changes nothing, otherwise it
    ///   would end the runs of a registration that is in force.
    package mutating func refused(_ registration: FenceNumber, _ effects: inout [Effect]) {
        guard validSince != nil, self.registration == registration else { return }
        end()
        effects.append(.killAll)
    }

    /// Handles deadlines that have come, in their order, also if several have.
    package mutating func timePassed(now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let validSince else { return }
        let reached = level(now: now, since: validSince)
        for next in Level.allCases where next > level && next <= reached {
            level = next
            effects.append(next.effect)
        }
        if now >= sentAt + length / 5 {
            sentAt = now
            effects.append(.renew)
        }
    }

    /// Starts nothing more: the host gives its partitions back.
    package mutating func leave() { isLeaving = validSince != nil }

    /// Ends the membership after the last partition was given back.
    package mutating func left() { end() }

    private mutating func end() {
        registration = nil
        validSince = nil
        isLeaving = false
    }

    private func end(of level: Level, since: MonotonicInstant) -> MonotonicInstant {
        guard let next = Level(rawValue: level.rawValue + 1) else { return .never }
        return start(of: next, since: since)
    }

    private func start(of level: Level, since: MonotonicInstant) -> MonotonicInstant {
        since + length / 100 * level.percent
    }

    private func level(now: MonotonicInstant, since: MonotonicInstant) -> Level {
        Level.allCases.last { now >= start(of: $0, since: since) } ?? .valid
    }
}
