// SPDX-License-Identifier: Apache-2.0

internal import BghostControl
package import BghostCore
internal import Glibc

/// Runs a manifest's schedules under a virtual clock: with the daemon's scheduler and limits, simulated
/// handlers, and a machine that meets all requirements.
package struct VirtualPlay {
    /// The result of a simulation.
    package struct Result: Sendable {
        package var from: Int64
        package var through: Int64
        package var seed: UInt64
        package var tallies: [String: Simulation.Tally]
        /// Forbidden state transitions: each is a bug in bghost.
        package var faults: [Ledger.Fault]
        /// The longest time by which a run exceeded its runtime and grace.
        package var longestOverrun: Duration
        /// The number of requests that wait at the end.
        package var pending: Int
    }

    package let manifest: Manifest
    package let path: String
    package let slots: Int?
    package let seed: UInt64
    package let behavior: HandlerBehavior
    /// Manifests to reload, in the order of their times, Unix nanoseconds.
    package var reloads: [(at: Int64, manifest: Manifest)] = []

    package init(
        manifest: Manifest,
        path: String,
        slots: Int?,
        seed: UInt64,
        behavior: HandlerBehavior
    ) {
        self.manifest = manifest
        self.path = path
        self.slots = slots
        self.seed = seed
        self.behavior = behavior
    }

    /// Runs the simulation between two times, Unix nanoseconds.
    package func play(
        from: Int64,
        through: Int64,
        observe: (@Sendable (Moment, Simulation.Event) -> Void)? = nil
    ) -> Result {
        let behavior = behavior
        var simulation = Simulation(
            Scheduler.Settings(
                manifest: manifest,
                manifestPath: path,
                slots: slots ?? manifest.host.slots ?? 4,
                // Use a fixed id: the offsets of a particular machine do not matter here.
                machineID: "virtual",
                seed: seed
            ),
            start: from,
            author: { start, _, random in
                behavior.script(limits: start.record.limits, using: &random)
            },
            observe: observe
        )
        simulation.set(simulation.scheduler.catalog.requirements, .holds)
        for (at, manifest) in reloads where at < through {
            simulation.run(until: at)
            simulation.reload(manifest, slots: slots ?? manifest.host.slots ?? 4)
            simulation.set(simulation.scheduler.catalog.requirements, .holds)
        }
        simulation.run(until: through)
        return Result(
            from: from,
            through: through,
            seed: seed,
            tallies: simulation.tallies,
            faults: simulation.faults,
            longestOverrun: Duration(nanoseconds: simulation.longestOverrun),
            pending: simulation.ledger.pending.count
        )
    }
}
