// SPDX-License-Identifier: Apache-2.0

internal import BghostControl
package import BghostCore
internal import Glibc

/// A manifest's schedules under a virtual clock: the daemon's own scheduler and limits, with made-up
/// handlers on a machine that offers all that is required.
package struct VirtualPlay {
    /// What came of it.
    package struct Result: Sendable {
        package var from: Int64
        package var through: Int64
        package var seed: UInt64
        package var tallies: [String: Simulation.Tally]
        /// Transitions that must not be: faults of bghost.
        package var faults: [Ledger.Fault]
        /// By how much a run outlived its runtime and grace at most.
        package var longestOverrun: Duration
        /// Requests that wait at the end.
        package var pending: Int
    }

    package let manifest: Manifest
    package let path: String
    package let slots: Int?
    package let seed: UInt64
    package let manners: RunManners
    /// Manifests that are taken up later, Unix nanoseconds, in the order of their times.
    package var reloads: [(at: Int64, manifest: Manifest)] = []

    package init(
        manifest: Manifest,
        path: String,
        slots: Int?,
        seed: UInt64,
        manners: RunManners
    ) {
        self.manifest = manifest
        self.path = path
        self.slots = slots
        self.seed = seed
        self.manners = manners
    }

    /// Plays from one moment up to another, Unix nanoseconds.
    package func play(
        from: Int64,
        through: Int64,
        observe: (@Sendable (Moment, Simulation.Event) -> Void)? = nil
    ) -> Result {
        let manners = manners
        var simulation = Simulation(
            Scheduler.Settings(
                manifest: manifest,
                manifestPath: path,
                slots: slots ?? manifest.host.slots ?? 4,
                // The offsets of one machine among many are not what is played.
                machineID: "virtual",
                seed: seed
            ),
            start: from,
            author: { start, _, random in
                manners.script(limits: start.record.limits, using: &random)
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
