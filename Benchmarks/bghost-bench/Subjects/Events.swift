// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy

// How long the events take that look at every identifier: the reactor's thread does nothing else meanwhile.
extension Subject {
    private static let rounds = 7

    /// Schedules requests of as many identifiers of a family for another day, and makes each event happen.
    ///
    /// Prints the median time of each event in milliseconds. Nothing starts, so that the time is that of
    /// the looks and rechecks.
    func events() throws {
        var scheduler = try Self.scheduler()
        var now = Moment(monotonic: .zero + 1_000_000_000_000, unix: Self.noon)
        var effects: [SchedulerEffect] = []
        scheduler.expect(requests: count)
        for number in 0..<count {
            scheduler.restore(Self.waiting(number), now: now, &effects)
        }
        scheduler.start(now: now, &effects)
        guard scheduler.nextDate != nil else { throw BenchFailure(description: "nothing waits") }

        func measure(_ name: String, _ event: (Int) -> Void) {
            var times: [UInt64] = []
            for round in 0..<Self.rounds {
                now.monotonic += 1_000_000_000
                now.unix += 1_000_000_000
                effects.removeAll()
                let before = Monotonic.now
                event(round)
                times.append(Monotonic.now.since(before))
            }
            print("\(name) \((Double(times.sorted()[Self.rounds / 2]) / 1e6).fixed(3))")
        }

        var facts = FactSheet()
        measure("fact-of-no-task") { round in
            let changed = facts.simulate(.idle, as: Self.value(round), now: now)
            scheduler.factsChanged(facts, changed, now: now, &effects)
        }
        measure("fact-of-all") { round in
            let changed = facts.simulate(.network, as: Self.value(round), now: now)
            scheduler.factsChanged(facts, changed, now: now, &effects)
        }
        let pause = Pause(target: .all, since: now.unix, user: "bench")
        measure("pause-and-resume") { _ in
            scheduler.pause(pause, now: now, &effects)
            _ = scheduler.resume(.all, now: now, &effects)
        }
        measure("clock-step") { _ in
            now.unix += 3_600_000_000_000
            scheduler.clockWasSet(now: now, &effects)
        }
        let manifest = scheduler.settings.manifest
        measure("reload") { _ in
            scheduler.reload(manifest, slots: 4, replacing: [], now: now, &effects)
            scheduler.dispatch(now: now, &effects)
        }
        var changed = manifest
        measure("reload-of-their-task") { round in
            changed.tasks[0].priority = round
            scheduler.reload(changed, slots: 4, replacing: [], now: now, &effects)
            scheduler.dispatch(now: now, &effects)
        }
        let family = try Self.task("bench.job.x.*")
        measure("reload-with-an-inner-family") { round in
            var inner = changed
            if round.isMultiple(of: 2) { inner.tasks.append(family) }
            scheduler.reload(inner, slots: 4, replacing: [], now: now, &effects)
            scheduler.dispatch(now: now, &effects)
        }
    }

    /// A day in 2026, at noon.
    private static let noon: Int64 = 1_795_262_400_000_000_000

    private static func value(_ round: Int) -> FactValue {
        round.isMultiple(of: 2) ? .holds : .fails
    }

    private static func task(_ text: String) throws -> TaskDefinition {
        guard let pattern = IdentifierPattern(text) else {
            throw BenchFailure(description: "\(text) is no identifier")
        }
        var task = TaskDefinition(
            identifier: pattern,
            handler: .plugin(name: "bench", handler: "nop")
        )
        task.requirements = .network
        return task
    }

    private static func scheduler() throws -> Scheduler {
        Scheduler(
            Scheduler.Settings(
                manifest: Manifest(
                    plugins: [PluginDefinition(name: "bench", library: "bench.so")],
                    tasks: [try task("bench.job.*")]
                ),
                manifestPath: "tasks.json",
                slots: 4,
                machineID: "bench",
                seed: 1
            )
        )
    }

    private static func waiting(_ number: Int) -> Request {
        var request = BenchRequest.make(number, parameters: "{}")
        request.task = "bench.job.\(number)"
        request.earliestBegin = noon + 86_400_000_000_000 + Int64(number)
        return request
    }
}
