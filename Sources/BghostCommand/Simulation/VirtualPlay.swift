// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import BghostPolicy
internal import BghostSimulation
internal import BghostControl
internal import Glibc

/// Runs a manifest's schedules under a virtual clock: with the daemon's scheduler and limits, simulated
/// handlers, and a machine that meets all requirements.
struct VirtualPlay {
    /// The result of a simulation.
    struct Result: Sendable {
        var from: Int64
        var through: Int64
        var seed: UInt64
        var counts: [String: Simulation.TaskCounts]
        /// Forbidden state transitions: each is a bug in bghost.
        var faults: [Ledger.Fault]
        /// The longest time by which a run exceeded its runtime and grace.
        var longestOverrun: Duration
        /// The number of requests that wait at the end.
        var pending: Int
    }

    let manifest: Manifest
    let path: String
    let slots: Int?
    let seed: UInt64
    let behavior: HandlerBehavior
    /// Manifests to reload, in the order of their times, Unix nanoseconds.
    var reloads: [(at: Int64, manifest: Manifest)] = []

    init(
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
    func play(
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
            counts: simulation.counts,
            faults: simulation.faults,
            longestOverrun: Duration(nanoseconds: simulation.longestOverrun),
            pending: simulation.ledger.pending.count
        )
    }
}
