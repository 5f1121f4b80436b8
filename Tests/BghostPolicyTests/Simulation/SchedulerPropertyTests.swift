// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// What holds whatever happens: a machine on which everything goes wrong, for weeks of its time.
///
/// The ledger takes no transition that must not be, so it is the judge of most of it: nothing before
/// its date or after its latest, one pending request for an identifier, one end for each request, no
/// time of a schedule twice, no request of a client taken by the manifest, one outcome for each lease, epochs that grow.
@Suite(.ownThreads) struct SchedulerPropertyTests {
    /// Does to a world what its seed says.
    private struct Fate {
        var random: SeededGenerator
        var world: World
        var submitted: Set<RunID> = []
        private var watch = StartWatch()

        /// Those of the world, and schedules whose starts wait for the machine.
        static let tasks =
            World.everyRule + [
                World.task(
                    "needy",
                    plugin: "r",
                    schedule: World.calendar("0 */3 * * *"),
                    requirements: .network
                ),
                World.task(
                    "patient",
                    schedule: World.every(5400, startDeadline: .seconds(3600)),
                    requirements: .externalPower
                ),
            ]

        private static let identifiers = World.identifiers + ["needy", "patient"]

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            world = World(seed: seed, tasks: Self.tasks, keepsTransactions: true) {
                start,
                now,
                random in
                var script = HandlerBehavior.hostile.script(
                    limits: start.record.limits,
                    using: &random
                )
                if UInt64.random(in: 0..<4, using: &random) == 0 {
                    // As Apple's handlers do: the next one first of all.
                    script.submission = Submission(
                        task: start.record.task,
                        earliestBegin: now.unix + Int64.random(in: 0...World.day, using: &random)
                    )
                }
                return script
            }
        }

        /// - Returns: starts and requests that were lost.
        @discardableResult
        mutating func next() -> [String] {
            let step = Int.random(in: 0..<22, using: &random)
            switch step {
            case 0..<8: submit()
            case 8..<14: world.simulation.run(for: someTime())
            case 14: withdraw()
            case 15: switchPlugin()
            case 16: changeFact()
            case 17: world.simulation.crash(downtime: someTime())
            case 18: stepClock()
            case 19: reload()
            case 20: pause()
            default: launch()
            }
            return watch.look(
                at: world.simulation.transactions,
                isWithdrawal: step == 14,
                isReload: step == 19
            )
        }

        /// Mostly short, seldom days.
        private mutating func someTime() -> Int64 {
            let scale = [
                World.second / 1000, World.second, World.minute, World.hour, World.day,
            ]
            return Int64.random(
                in: 0...scale[Int.random(in: 0..<scale.count, using: &random)],
                using: &random
            )
        }

        private var someIdentifier: String {
            mutating get {
                Self.identifiers[Int.random(in: 0..<Self.identifiers.count, using: &random)]
            }
        }

        private mutating func submit() {
            let now = world.simulation.now.unix
            let earliest = Bool.random(using: &random) ? now + someTime() : nil
            let latest = Bool.random(using: &random) ? (earliest ?? now) + someTime() : nil
            let conflicts = Submission.Conflict.allCases
            let submission = Submission(
                task: someIdentifier,
                earliestBegin: earliest,
                latestBegin: latest,
                onConflict: conflicts[Int.random(in: 0..<conflicts.count, using: &random)],
                priority: Int.random(in: 0...1000, using: &random)
            )
            if let id = try? world.simulation.submit(submission) { submitted.insert(id) }
        }

        private mutating func launch() {
            let submission = Submission(task: someIdentifier)
            if let id = try? world.simulation.submit(submission, isManual: true) {
                submitted.insert(id)
            }
        }

        private mutating func withdraw() {
            let identifier = someIdentifier
            world.simulation.ask { scheduler, now, effects in
                _ = scheduler.withdraw(identifier, now: now, &effects)
            }
        }

        private mutating func switchPlugin() {
            let plugin = Int.random(in: 0..<3, using: &random)
            let reason = Bool.random(using: &random) ? "" : nil
            world.simulation.ask { scheduler, now, effects in
                let plugin = scheduler.catalog.current(plugin: plugin) ?? plugin
                scheduler.set(plugin: plugin, disabledReason: reason, now: now, &effects)
            }
        }

        /// Mostly of one task; it ends by itself.
        private mutating func pause() {
            let targets: [PauseTarget] = [
                .tasks(someIdentifier), .tasks(someIdentifier), .plugin("r"),
            ]
            let target = targets[Int.random(in: 0..<targets.count, using: &random)]
            let length = 1 + someTime()
            world.simulation.ask { scheduler, now, effects in
                let pause = Pause(
                    target: target,
                    since: now.unix,
                    until: now.unix + length,
                    user: "a test"
                )
                scheduler.pause(pause, now: now, &effects)
            }
        }

        mutating func changeFact() {
            let fact: RequirementSet = Bool.random(using: &random) ? .network : .externalPower
            let value: FactValue = Bool.random(using: &random) ? .holds : .fails
            world.simulation.set(fact, value)
        }

        /// Drops some tasks, changes some, and brings back those that an earlier one dropped.
        private mutating func reload() {
            var manifest = World.settings(seed: 0, tasks: Self.tasks).manifest
            manifest.tasks.removeAll { _ in Int.random(in: 0..<4, using: &random) == 0 }
            for index in manifest.tasks.indices {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: manifest.tasks[index].priority = 600
                case 1 where manifest.tasks[index].schedule != nil:
                    manifest.tasks[index].schedule = World.every(
                        Int.random(in: 1...8, using: &random) * 900
                    )
                case 2 where !manifest.tasks[index].identifier.isFamily:
                    manifest.tasks[index].schedule =
                        Bool.random(using: &random) ? nil : World.calendar("*/20 * * * *")
                case 3: manifest.tasks[index].overlap = .allow
                case 4: manifest.tasks[index].handler = .plugin(name: "q", handler: "other")
                default: break
                }
            }
            if Bool.random(using: &random) { manifest.plugins[0].config = #"{"other": 1}"# }
            world.simulation.reload(manifest, slots: Int.random(in: 1...4, using: &random))
        }

        /// Back by up to a day, or forward by up to a month.
        private mutating func stepClock() {
            let step =
                Bool.random(using: &random)
                ? -Int64.random(in: 0...World.day, using: &random)
                : Int64.random(in: 0...30 * World.day, using: &random)
            world.simulation.setClock(to: world.simulation.now.unix + step)
        }

        /// Has nothing stand in the way any more.
        mutating func clearTheWay() {
            let manifest = World.settings(seed: 0, tasks: Self.tasks).manifest
            world.simulation.reload(manifest, slots: 3)
            world.simulation.ask { scheduler, now, effects in
                for pause in scheduler.pauses {
                    // It is one of those in force.
                    _ = scheduler.resume(pause.target, now: now, &effects)
                }
                for plugin in scheduler.catalog.plugins.indices {
                    scheduler.set(plugin: plugin, disabledReason: nil, now: now, &effects)
                }
            }
            world.simulation.set([.network, .externalPower], .holds)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: SeededGenerator.seeds(16))
    func `Keeps every promise`(seed: UInt64) {
        var fate = Fate(seed: seed)
        for _ in 0..<400 {
            #expect(fate.next() == [])
            #expect(fate.world.simulation.faults == [])
            #expect(fate.world.simulation.ledger.isBalanced)
        }
        #expect(fate.world.simulation.longestOverrun <= UInt64(World.second))
        #expect(fate.submitted.count > 50)

        // With nothing in the way, all that was accepted comes to an end.
        fate.clearTheWay()
        fate.world.simulation.run(for: 90 * World.day)
        let ledger = fate.world.simulation.ledger
        let alive = Set(ledger.pending.keys).union(ledger.leases.keys)
        #expect(alive.isDisjoint(with: fate.submitted))
        #expect(fate.world.simulation.faults == [])
        #expect(ledger.isBalanced)
    }

    @Test(.timeLimit(.minutes(10)), arguments: SeededGenerator.seeds(3))
    func `Goes on from every point of the journal`(seed: UInt64) {
        var fate = Fate(seed: seed)
        for _ in 0..<60 { fate.next() }
        let transactions = fate.world.simulation.transactions
        #expect(transactions.count > 100)
        var ledger = Ledger()
        for (index, transaction) in transactions.enumerated() {
            for change in transaction.changes {
                #expect(throws: Never.self) { try ledger.apply(change, now: transaction.at) }
            }
            var world = World(seed: seed &+ UInt64(index), tasks: Fate.tasks)
            world.simulation.setClock(to: transaction.at)
            world.simulation.restart(from: ledger)
            // The next daemon keeps the requests that the cut run accepted.
            let waits = Set(ledger.pending.keys)
            let now = Set(world.simulation.ledger.pending.keys)
                .union(world.simulation.ledger.leases.keys)
            let gone = waits.subtracting(now)
            #expect(gone.allSatisfy { world.simulation.ledger.dead[$0] == nil })
            world.simulation.run(for: World.day)
            #expect(world.simulation.faults == [])
            #expect(world.simulation.ledger.isBalanced)
        }
    }

    @Test func `The same seed is the same year`() {
        func year(seed: UInt64) -> [String] {
            let lines = LineBox()
            var world = World(
                seed: seed,
                author: { start, _, random in
                    HandlerBehavior.hostile.script(limits: start.record.limits, using: &random)
                },
                observe: { now, event in lines.add("\(now.unix) \(event)") }
            )
            world.simulation.run(for: 6 * World.day)
            return lines.all
        }
        let first = year(seed: 7)
        #expect(first.count > 1000)
        #expect(year(seed: 7) == first)
        #expect(year(seed: 8) != first)
    }
}
