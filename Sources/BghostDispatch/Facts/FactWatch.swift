// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostAPI
package import BghostFacts
package import BghostLinux
package import BghostModel
internal import BghostPolicy
package import BghostServices

/// Tells the scheduler and the transfers when a fact changes that tasks or requests require.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. A changed fact costs O(n) in
/// the requests that wait for it.
package final class FactWatch {
    private let monitor: FactMonitor
    private let dispatcher: Dispatcher
    private let deadlines: Deadlines
    private let clock: DaemonClock
    private let log: HostLog
    private let definitions: () -> FactDefinitions
    private var onChange: (RequirementSet) -> Void = { _ in }
    /// The armed deadline.
    package private(set) var armed: MonotonicInstant = .zero

    /// - Parameter definitions: the facts that the current manifest defines.
    package init(
        _ monitor: FactMonitor,
        _ dispatcher: Dispatcher,
        _ deadlines: Deadlines,
        _ clock: DaemonClock,
        log: HostLog,
        definitions: @escaping () -> FactDefinitions
    ) {
        self.monitor = monitor
        self.dispatcher = dispatcher
        self.deadlines = deadlines
        self.clock = clock
        self.log = log
        self.definitions = definitions
    }

    /// Begins to watch what the manifest's tasks require.
    ///
    /// - Parameter onChange: called with the changed requirements; the scheduler already knows them.
    package func begin(onChange: @escaping (RequirementSet) -> Void) {
        self.onChange = onChange
        watch()
    }

    /// Whether a deadline is the one that is armed.
    package func isLive(_ deadline: MonotonicInstant) -> Bool { deadline == armed }

    // MARK: Watching

    /// Watches the requirements of the manifest's tasks and of the requests.
    package func watch() {
        do throws(SystemError) {
            changed(
                try monitor.watch(
                    dispatcher.scheduler.catalog.requirements,
                    definitions(),
                    now: clock.moment
                )
            )
        } catch {
            log.write(
                .error,
                "facts.failed",
                "what tasks require cannot be watched, so it counts as unknown: \(error.description)"
            )
        }
    }

    /// Watches the requirements of a request from now on.
    package func watch(_ requirements: RequirementSet) {
        if monitor.note(requested: requirements) { watch() }
    }

    /// Stops all sources; call it before the spawner ends, whose processes probes use.
    package func stop() { monitor.stop() }

    // MARK: Changes

    /// Handles a descriptor of a fact that is ready.
    package func ready(_ token: UInt64, _ readiness: Readiness) {
        changed(monitor.ready(token, readiness, now: clock.moment))
    }

    /// Handles the armed deadline.
    package func deadlinePassed() { changed(monitor.deadlinePassed(now: clock.moment)) }

    /// Arms the next deadline of the facts, and informs the scheduler and the transfers.
    private func changed(_ changed: RequirementSet) {
        guard let sheet = monitor.sheet else { return }
        if monitor.deadline != .never, monitor.deadline != armed {
            armed = monitor.deadline
            deadlines.arm(.facts, at: armed)
        }
        for requirement in changed.each {
            let text = monitor.description(of: requirement, now: clock.monotonic)
            log.write(.info, "fact.changed", text)
        }
        dispatcher.decide { scheduler, now, effects in
            scheduler.factsChanged(sheet, changed, now: now, &effects)
        }
        onChange(changed)
    }

    // MARK: Simulation

    /// The facts that an operator simulates.
    var simulations: [SimulationStatus.Fact] {
        let sheet = monitor.sheet
        return (sheet?.simulations ?? []).compactMap { fact in
            fact.value.map {
                .init(name: fact.requirement.name(probes: sheet?.probes ?? []), value: $0)
            }
        }
    }

    /// Sets a fact to an operator's value, or ends its simulation.
    ///
    /// - Parameter text: the fact and its value, as in `bghost simulate`.
    func simulate(_ text: String) throws(OperatorRefusal) {
        let fact: SimulatedFact
        do {
            fact = try SimulatedFact(text, probes: monitor.probes)
        } catch {
            throw OperatorRefusal(.badSimulation, error.description)
        }
        do {
            let changes = try monitor.simulate(fact, now: clock.moment)
            let name = fact.requirement.name(probes: monitor.probes)
            log.write(
                .warning,
                "fact.simulated",
                fact.value.map { "\(name) is simulated: \($0.word)" }
                    ?? "\(name) is no longer simulated"
            )
            changed(changes)
        } catch {
            throw OperatorRefusal(
                .unavailable,
                "facts cannot be watched: \(error.description)"
            )
        }
    }
}

extension FactSettings {
    /// The settings of the manifest, with default values for this machine.
    package init(_ definitions: FactDefinitions, storage: String) {
        self.init(storage: storage)
        ups = definitions.ups.map {
            UPSMonitor.Address(
                host: $0.host,
                port: $0.port ?? UPSMonitor.Address.usualPort,
                supply: $0.supply
            )
        }
        meteredLinks = definitions.meteredLinks
        probes = definitions.probes
    }
}
