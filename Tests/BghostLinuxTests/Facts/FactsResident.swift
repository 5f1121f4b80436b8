// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc

/// An owner of facts on a reactor's thread, whose clocks can be set forward.
actor FactsResident: ReactorClient {
    nonisolated let reactor: Reactor
    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }
    private let spawner: Spawner
    private var facts: MachineFacts?
    private var ahead: UInt64 = 0
    /// The instant at which the clocks stand still but for what passes; `nil` if they run.
    private let standstill: Moment?
    /// All that changed, in order.
    private(set) var changes: [RequirementSet] = []
    private var waiting:
        (isEnough: (FactSheet, UInt64?) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    static let tokens: UInt64 = 5 << 48

    /// - Parameter standsStill: whether only `pass` moves the clocks, so that a slow machine changes nothing.
    init(standsStill: Bool = false) throws {
        standstill = standsStill ? Moment.now : nil
        reactor = try Reactor()
        spawner = try Spawner()
        try reactor.start(client: self)
    }

    deinit {
        reactor.stop()
        spawner.end()
    }

    private var now: Moment {
        let real = standstill ?? Moment.now
        return Moment(monotonic: real.monotonic + ahead, unix: real.unix + Int64(ahead))
    }

    /// Begins with the sources that are made on the reactor's thread.
    func start(
        probes: [String] = [],
        _ sources: @Sendable (Spawner) -> [any FactSource]
    ) throws {
        let facts = try MachineFacts(
            sources: sources(spawner),
            probes: probes,
            reactor: reactor,
            tokens: Self.tokens
        )
        self.facts = facts
        note(try facts.start(now: now))
    }

    var sheet: FactSheet { facts?.sheet ?? FactSheet() }

    /// How long until the facts want to be woken, nanoseconds.
    var untilDeadline: UInt64? {
        guard let facts, facts.deadline != .never else { return nil }
        let now = now.monotonic
        return facts.deadline.since(now)
    }

    /// Sets the clocks forward and lets what is due then happen.
    func pass(seconds: UInt64) {
        ahead += seconds * 1_000_000_000
        if let facts { note(facts.deadlinePassed(now: now)) }
    }

    func simulate(_ text: String) throws {
        guard let facts else { return }
        note(facts.simulate(try SimulatedFact(text, probes: facts.sheet.probes), now: now))
    }

    func stop() { facts?.stop() }

    /// All facts, once they are as wanted.
    func sheet(when isEnough: @escaping @Sendable (FactSheet) -> Bool) async -> FactSheet {
        await wait { sheet, _ in isEnough(sheet) }
        return sheet
    }

    /// Returns once nothing wants to be woken for so long.
    func rest(seconds: UInt64) async {
        await wait { _, wait in wait.map { $0 > seconds * 1_000_000_000 } ?? true }
    }

    private func wait(until isEnough: @escaping @Sendable (FactSheet, UInt64?) -> Bool) async {
        guard !isEnough(sheet, untilDeadline) else { return }
        await withCheckedContinuation { waiting = (isEnough, $0) }
    }

    /// One fact, once it has this value.
    func fact(_ requirement: RequirementSet, is value: FactValue) async -> Fact {
        await sheet { $0[requirement].value == value }[requirement]
    }

    /// Does something on the reactor's thread.
    func perform<T: Sendable>(_ work: @Sendable () throws -> T) rethrows -> T { try work() }

    private func note(_ changed: RequirementSet) {
        if !changed.isEmpty { changes.append(changed) }
        // In real time: what is set ahead is not waited for.
        let deadline = standstill == nil ? facts?.deadline ?? .never : .never
        reactor.deadline = deadline == .never ? .never : deadline - ahead
        guard let waiting, waiting.isEnough(sheet, untilDeadline) else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    // MARK: The reactor's client

    nonisolated func ready(_ token: UInt64, _ readiness: Readiness) {
        assumeIsolated {
            guard let facts = $0.facts, facts.owns(token) else { return }
            $0.note(facts.ready(token, readiness, now: $0.now))
        }
    }

    nonisolated func deadlinePassed(now: MonotonicInstant) {
        assumeIsolated {
            if let facts = $0.facts { $0.note(facts.deadlinePassed(now: $0.now)) }
        }
    }

    nonisolated func usedCPU(_ value: Int32) {}

    nonisolated func turnEnded() {}
}
