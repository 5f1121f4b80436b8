// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// What is known of the machine, kept up to date by the sources that somebody needs.
///
/// It lives on its owner's reactor thread and has none of its own: nearly all of its sources are
/// descriptors that the kernel makes ready, so the reactor's wait serves them as it serves workers,
/// and what changes is known on the thread that decides by it, without a hop. Only what may block (a
/// battery's firmware, a hung file system, a UPS behind a network) is read on threads of its own,
/// which sleep in between. When nothing changes it wakes its owner at most every 30 s.
///
/// The owner forwards what concerns it: `ready` for tokens that it `owns`, `deadlinePassed` at its
/// `deadline`, which has to be read again after each call. Each answers which requirements have
/// changed.
package final class MachineFacts {
    /// All facts.
    package private(set) var sheet: FactSheet
    private let sources: [any FactSource]
    private let board: FactBoard
    private let tokens: UInt64
    private var isRunning = false

    /// How many of a token's lower bits are used here.
    private static let tokenBits: UInt64 = 48
    /// How much too early a source may be asked, so that one wake-up serves them all; nanoseconds.
    private static let slack: UInt64 = 3_000_000_000

    /// - Parameters:
    ///   - sources: those that are wanted.
    ///   - probes: the names of the probes, in the order of their bits.
    ///   - known: what is known of the machine already, with the same probes.
    ///   - tokens: what nobody else's tokens of the reactor have in their upper 16 bits; the lower
    ///     ones are 0.
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
        board = try FactBoard(reactor: reactor, tokens: tokens)
    }

    /// Begins to look.
    package func start(now: Moment) throws(SystemError) -> RequirementSet {
        // Number 0 is the inbox; the sources' begin at 1.
        try board.reactor.watch(board.inbox.fd, for: .input, token: tokens)
        isRunning = true
        for (index, source) in sources.enumerated() {
            source.start(FactDesk(source: index, board: board), now: now.monotonic)
        }
        return settle(now: now)
    }

    /// Ends all sources, and the probes that are under way.
    ///
    /// To be called before the spawner is ended. What the sources last told stays.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        for source in sources { source.stop() }
        board.reactor.unwatch(board.inbox.fd)
        // What a spawner hands over from now on is nobody's; what it has handed over is ended here.
        for (index, message) in board.inbox.take() {
            sources[index].received(message, now: board.reactor.now)
        }
    }

    /// Whether a token of the reactor is one of these.
    package func owns(_ token: UInt64) -> Bool {
        token >> Self.tokenBits == tokens >> Self.tokenBits
    }

    /// A descriptor is ready.
    package func ready(
        _ token: UInt64,
        _ readiness: Readiness,
        now: Moment
    ) -> RequirementSet {
        guard isRunning else { return [] }
        if token == tokens {
            for (index, message) in board.inbox.take() {
                if case .readings(let readings) = message { board.readings += readings }
                sources[index].received(message, now: now.monotonic)
            }
        } else if let index = board.source(of: token) {
            sources[index].ready(token, readiness, now: now.monotonic)
        }
        return settle(now: now)
    }

    /// When `deadlinePassed` is wanted, monotonic nanoseconds; `.max` for never.
    package var deadline: UInt64 {
        guard isRunning else { return .max }
        return sources.reduce(sheet.nextDeadline ?? .max) { min($0, $1.deadline) }
    }

    /// Time has passed.
    package func deadlinePassed(now: Moment) -> RequirementSet {
        guard isRunning else { return [] }
        let due = sheet.due(at: now.monotonic)
        let soon = now.monotonic.addingClamped(Self.slack)
        for source in sources
        where source.deadline <= soon || !source.requirements.isDisjoint(with: due) {
            source.look(now: now.monotonic)
        }
        return settle(now: now)
    }

    /// Has a requirement be what somebody says, until told otherwise.
    package func simulate(_ fact: SimulatedFact, now: Moment) -> RequirementSet {
        sheet.simulate(fact.requirement, as: fact.value, now: now)
    }

    /// Enters what has been told, and then lets time pass: a fresh look goes before an old one.
    private func settle(now: Moment) -> RequirementSet {
        var changed: RequirementSet = []
        let readings = board.readings
        board.readings = []
        for reading in readings { changed.formUnion(sheet.update(reading, now: now)) }
        return changed.union(sheet.advance(now: now))
    }
}

extension Moment {
    /// Now.
    package static var now: Moment {
        Moment(monotonic: Monotonic.now, unix: WallClock.now)
    }
}
