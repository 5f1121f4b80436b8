// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
package import BghostLinux
package import BghostModel

/// Watches what tasks and requests require of the machine, and stores the facts.
///
/// The host owns it and forwards descriptors and deadlines. Each call that can change a fact
/// returns the requirements whose fact changed; the host then informs the scheduler and the
/// transfers. It holds no reference to the host.
///
/// Use it on the reactor's thread only. It does not block: `MachineFacts` performs blocking reads
/// on its own threads. A call costs at most O(requirements), of which there are 16.
package final class FactMonitor {
    /// Creates the sources for a set of requirements.
    package typealias SourceMaker = (RequirementSet, FactDefinitions) -> [any FactSource]

    /// Bits of the reactor's tokens that mark a descriptor of a fact; workers use far lower ones.
    package static let tokens: UInt64 = 1 << 48

    private let reactor: Reactor
    private let makeSources: SourceMaker
    private var facts: MachineFacts?
    private var definitions: FactDefinitions
    /// The requirements of requests, in addition to those of tasks.
    ///
    /// The set grows until the daemon ends; it has 16 bits.
    private var requested: RequirementSet = []
    /// The requirements that the sources watch.
    private var watched: RequirementSet = []

    /// Creates a monitor that watches nothing yet.
    ///
    /// - Parameters:
    ///   - definitions: the manifest's probes, UPS and metered links.
    ///   - reactor: waits for the descriptors of the sources.
    ///   - makeSources: called each time that the watched set or the definitions change.
    package init(
        _ definitions: FactDefinitions,
        reactor: Reactor,
        makeSources: @escaping SourceMaker
    ) {
        self.definitions = definitions
        self.reactor = reactor
        self.makeSources = makeSources
    }

    /// All facts; `nil` if nothing is watched.
    package var sheet: FactSheet? { facts?.sheet }

    /// The names of the probes, in the order of their bits.
    package var probes: [String] { facts?.sheet.probes ?? [] }

    /// The time at which the host must call `deadlinePassed`; `never` for no call.
    ///
    /// It may change with every call.
    package var deadline: MonotonicInstant { facts?.deadline ?? .never }

    // MARK: Watching

    /// Watches the requirements of tasks and requests, and nothing else.
    ///
    /// Known facts stay known. If the sources started again without them, the machine would count
    /// as busy and the network as unavailable until the first reads, which would cancel runs.
    ///
    /// - Parameters:
    ///   - requirements: the requirements of all tasks of the manifest.
    ///   - definitions: the definitions of the manifest that is in force from now on.
    /// - Returns: the changed requirements; if this throws, all facts are unknown.
    package func watch(
        _ requirements: RequirementSet,
        _ definitions: FactDefinitions,
        now: Moment
    ) throws(SystemError) -> RequirementSet {
        let wanted = requirements.union(requested)
        guard wanted != watched || definitions != self.definitions else { return [] }
        let known = facts?.sheet.renewed(
            probes: definitions.probes.map(\.name),
            keepsUPS: self.definitions.ups == definitions.ups,
            now: now
        )
        stop()
        self.definitions = definitions
        watched = wanted
        guard !wanted.isEmpty || known != nil else { return [] }
        let changed = try start(
            makeSources(wanted, definitions),
            known: known?.sheet,
            now: now
        )
        return changed.union(known?.changed ?? [])
    }

    /// Adds the requirements of a request.
    ///
    /// - Returns: whether the host must call `watch`.
    package func note(requested requirements: RequirementSet) -> Bool {
        requested.formUnion(requirements)
        return !requirements.isSubset(of: watched)
    }

    /// Stops all sources and running probes.
    ///
    /// Call it before the spawner ends.
    package func stop() {
        facts?.stop()
        facts = nil
    }

    private func start(
        _ sources: [any FactSource],
        known: FactSheet?,
        now: Moment
    ) throws(SystemError) -> RequirementSet {
        let facts = try MachineFacts(
            sources: sources,
            probes: definitions.probes.map(\.name),
            known: known,
            reactor: reactor,
            tokens: Self.tokens
        )
        let changed = try facts.start(now: now)
        self.facts = facts
        return changed
    }

    // MARK: Changes

    /// Whether a token of the reactor is one of a fact's descriptors.
    package static func owns(_ token: UInt64) -> Bool { token >> 48 == tokens >> 48 }

    /// Handles a descriptor that is ready.
    package func ready(_ token: UInt64, _ readiness: Readiness, now: Moment) -> RequirementSet {
        facts?.ready(token, readiness, now: now) ?? []
    }

    /// Handles the deadline.
    package func deadlinePassed(now: Moment) -> RequirementSet {
        facts?.deadlinePassed(now: now) ?? []
    }

    /// Sets a fact to the operator's value, regardless of the sources; `nil` ends the simulation.
    ///
    /// - Throws: if nothing was watched before and the reactor cannot watch anything.
    package func simulate(_ fact: SimulatedFact, now: Moment) throws(SystemError) -> RequirementSet
    {
        // No task requires anything yet, so no source is needed.
        if facts == nil { _ = try start([], known: nil, now: now) }
        return facts?.simulate(fact, now: now) ?? []
    }

    // MARK: Description

    /// The log text for a changed fact: its name, its value, the reading and the source.
    package func description(of requirement: RequirementSet, now: MonotonicInstant) -> String {
        guard let sheet else { return "" }
        let fact = sheet[requirement]
        var standing = fact.value.word
        if let end = sheet.metTime(of: requirement) {
            let rest = DurationText.of(nanoseconds: end.since(now))
            standing = "settling, met in \(rest)"
        }
        return "\(requirement.name(probes: sheet.probes)): \(standing)"
            + " (\(fact.reading), \(fact.source))"
    }
}
