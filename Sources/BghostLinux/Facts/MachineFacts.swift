// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts

/// The known facts of the machine, kept up to date by the sources that some task requires.
///
/// It has no thread of its own but uses the reactor's: nearly all sources are descriptors that the
/// kernel makes ready, so the reactor's wait serves them as it serves workers, and the thread that
/// decides learns of changes without a thread switch. Only sources that may block (a battery's
/// firmware, a hung file system, a UPS behind a network) have threads of their own, which sleep in
/// between. When nothing changes, the reactor wakes for facts at most every 30 s.
///
/// The owner forwards events: `ready` for tokens that this object `owns`, and `deadlinePassed` at
/// its `deadline`, which the owner must read again after each call. Each call returns the
/// requirements that have changed.
package final class MachineFacts {
    /// All facts.
    package private(set) var sheet: FactSheet
    private let sources: [any FactSource]
    private let shared: SharedFactState
    private let tokens: UInt64
    private var isRunning = false

    /// How many of the lower bits of a token this object uses.
    private static let tokenBits: UInt64 = 48
    /// How much earlier than its deadline a source may be read, so that one wake-up serves several;
    /// nanoseconds.
    private static let slack: UInt64 = 3_000_000_000

    /// - Parameters:
    ///   - sources: the wanted sources.
    ///   - probes: the names of the probes, in the order of their bits.
    ///   - known: the facts known so far, with the same probes.
    ///   - tokens: a value whose upper 16 bits no other client of the reactor uses; the lower bits
    ///     are 0.
    package init(
        sources: [any FactSource],
        probes: [String] = [],
        known: FactSheet? = nil,
        reactor: Reactor,
        tokens: UInt64
    ) throws(SystemError) {
        self.sources = sources
        self.tokens = tokens
        sheet = known ?? FactSheet(probes: probes)
        shared = try SharedFactState(reactor: reactor, tokens: tokens)
    }

    /// Starts the sources.
    package func start(now: Moment) throws(SystemError) -> RequirementSet {
        // Token number 0 is the inbox; the sources' tokens start at 1.
        try shared.reactor.watch(shared.inbox.fd, for: .input, token: tokens)
        isRunning = true
        for (index, source) in sources.enumerated() {
            source.start(FactSourceContext(source: index, shared: shared), now: now.monotonic)
        }
        return updateFacts(now: now)
    }

    /// Stops all sources and the probes in progress.
    ///
    /// Call it before the spawner ends. The last readings remain.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        for source in sources { source.stop() }
        shared.reactor.unwatch(shared.inbox.fd)
        // End the probes that the spawner has already handed over; the spawner itself ends those
        // that it hands over later.
        for (index, message) in shared.inbox.take() {
            sources[index].received(message, now: shared.reactor.now)
        }
    }

    /// Whether a reactor token belongs to this object.
    func owns(_ token: UInt64) -> Bool {
        token >> Self.tokenBits == tokens >> Self.tokenBits
    }

    /// Handles a ready descriptor.
    package func ready(
        _ token: UInt64,
        _ readiness: Readiness,
        now: Moment
    ) -> RequirementSet {
        guard isRunning else { return [] }
        if token == tokens {
            for (index, message) in shared.inbox.take() {
                if case .readings(let readings) = message { shared.readings += readings }
                sources[index].received(message, now: now.monotonic)
            }
        } else if let index = shared.source(of: token) {
            sources[index].ready(token, readiness, now: now.monotonic)
        }
        return updateFacts(now: now)
    }

    /// When `deadlinePassed` must be called; `never` for no call.
    package var deadline: MonotonicInstant {
        guard isRunning else { return .never }
        return sources.reduce(sheet.nextDeadline ?? .never) { min($0, $1.deadline) }
    }

    /// Reads the sources that are due, or almost due.
    package func deadlinePassed(now: Moment) -> RequirementSet {
        guard isRunning else { return [] }
        let due = sheet.due(at: now.monotonic)
        let soon = now.monotonic + Self.slack
        for source in sources
        where source.deadline <= soon || !source.requirements.isDisjoint(with: due) {
            source.poll(now: now.monotonic)
        }
        return updateFacts(now: now)
    }

    /// Overrides a requirement with a simulated value until the override is removed.
    package func simulate(_ fact: SimulatedFact, now: Moment) -> RequirementSet {
        sheet.simulate(fact.requirement, as: fact.value, now: now)
    }

    /// Records new readings, and then expires old ones: a fresh reading has precedence.
    private func updateFacts(now: Moment) -> RequirementSet {
        var changed: RequirementSet = []
        let readings = shared.readings
        shared.readings = []
        for reading in readings { changed.formUnion(sheet.update(reading, now: now)) }
        return changed.union(sheet.advance(now: now))
    }
}

extension Moment {
    /// The current time of both clocks.
    static var now: Moment {
        Moment(monotonic: Monotonic.now, unix: WallClock.now)
    }
}
