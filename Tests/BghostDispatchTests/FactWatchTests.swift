// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostFacts
@testable import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import BghostTestSupport
import Testing

/// The owner that tells the scheduler of facts, and the commands that simulate them and the clock.
@Suite(.timeLimit(.minutes(5))) struct FactWatchTests {
    /// What the owner called, and what its sources watch.
    private final class Calls {
        var changed: [RequirementSet] = []
        var made: [RequirementSet] = []
    }

    /// The task `backup` requires external power.
    private struct Subject {
        let bench: CommandBench
        let calls = Calls()
        let source = ManualFacts([.externalPower, .network])
        let facts: FactWatch
        let dates: DateWatch
        let simulation: SimulationCommands

        init(_ reactor: Reactor, _ requirements: RequirementSet = .externalPower) {
            let (calls, source) = (calls, source)
            let bench = CommandBench(
                reactor,
                SampleManifest.make { $0.requirements = requirements }
            )
            self.bench = bench
            let monitor = FactMonitor(FactDefinitions(), reactor: reactor) { wanted, _ in
                calls.made.append(wanted)
                return [source]
            }
            facts = FactWatch(
                monitor,
                bench.dispatcher,
                bench.deadlines,
                bench.clock,
                log: bench.log
            ) { FactDefinitions() }
            dates = DateWatch(bench.clock, bench.deadlines, bench.dispatcher, log: bench.log) {
                _ in nil
            }
            simulation = SimulationCommands(
                bench.dispatcher,
                facts,
                bench.clock,
                dates,
                log: bench.log
            )
            facts.begin { calls.changed.append($0) }
            calls.changed = []
        }

        /// Reports a reading, which arrives as in the reactor's wait.
        func report(_ requirement: RequirementSet, _ isMet: Bool) {
            source.report(requirement, .state(isMet))
            facts.ready(FactMonitor.tokens, .input)
        }
    }

    @Test func `A request starts when the fact that its task requires is met`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            #expect(subject.calls.made == [.externalPower])
            try await subject.bench.submit()
            subject.report(.externalPower, false)
            #expect(subject.bench.started.isEmpty)
            #expect(subject.calls.changed == [.externalPower])
            subject.report(.externalPower, true)
            #expect(subject.bench.started.map(\.record.task) == ["backup"])
            #expect(subject.calls.changed.count == 2)
            #expect(subject.bench.events.filter { $0 == "fact.changed" }.count >= 2)
            // The same reading again is no change.
            subject.report(.externalPower, true)
            #expect(subject.calls.changed.filter { !$0.isEmpty }.count == 2)
            #expect(subject.bench.started.count == 1)
        }
    }

    @Test func `A requirement of a request is watched once, besides those of the tasks`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.facts.watch(.externalPower)
            #expect(subject.calls.made.count == 1)
            for _ in 0..<2 { subject.facts.watch(.network) }
            #expect(subject.calls.made == [.externalPower, [.externalPower, .network]])
        }
    }

    @Test func `A reading that must last arms one deadline, and only that one is live`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor, .network)
            subject.report(.network, false)
            subject.facts.deadlinePassed()
            subject.report(.network, true)
            let armed = subject.facts.armed
            let count = subject.bench.deadlines.count
            #expect(armed > .zero && count >= 1)
            #expect(subject.facts.isLive(armed) && !subject.facts.isLive(armed + 1))
            // Nothing new, so the deadline is not armed a second time.
            subject.facts.ready(FactMonitor.tokens, .input)
            #expect(subject.bench.deadlines.count == count)
        }
    }

    @Test(arguments: ["", "network", "network=maybe", "nettwork=on", "=on", "network=on=off"])
    func `A text that is no fact and value simulates nothing`(text: String) async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            let refusal = #expect(throws: OperatorRefusal.self) {
                _ = try subject.simulation.simulate(fact: text)
            }
            #expect(refusal?.code == .badSimulation && refusal?.message.isEmpty == false)
            #expect(!subject.simulation.status.isActive && subject.calls.changed.isEmpty)
        }
    }

    @Test func `A simulated fact counts until the simulation ends`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.report(.externalPower, false)
            try await subject.bench.submit()
            let status = try subject.simulation.simulate(fact: "externalPower=on")
            #expect(status.facts.map(\.value) == [.holds] && status.facts.count == 1)
            #expect(subject.bench.started.count == 1)
            try await subject.bench.submit()
            let real = try subject.simulation.simulate(fact: "externalPower=real")
            #expect(!real.isActive)
            #expect(
                subject.bench.events.filter { $0 == "fact.simulated" }.count == 2
            )
        }
    }

    @Test func `A clock that an operator moves makes requests due, and goes back`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor, [])
            try await subject.bench.submit(in: 3600)
            #expect(subject.bench.started.isEmpty)
            let hours = 2 * 3600 * CommandBench.second
            #expect(try subject.simulation.simulate(clock: .by(hours)).clockOffset == hours)
            subject.dates.timerFired()
            #expect(subject.bench.started.count == 1)
            #expect(try subject.simulation.simulate(clock: .real).clockOffset == 0)
            #expect(subject.bench.clock.wall == CommandBench.start)
        }
    }

    @Test func `A time that no clock shows is refused, and the clock stays`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            for wanted in [SimulatedClock.by(.max), .by(.min), .to(-1), .to(.max)] {
                let refusal = #expect(throws: OperatorRefusal.self) {
                    _ = try subject.simulation.simulate(clock: wanted)
                }
                #expect(refusal?.code == .badSimulation, "\(wanted)")
            }
            #expect(subject.bench.clock.offset == 0)
            #expect(!subject.bench.events.contains("clock.simulated"))
        }
    }

    @Test func `A daemon that stops simulates no fact`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.bench.dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
            let refusal = #expect(throws: OperatorRefusal.self) {
                _ = try subject.simulation.simulate(fact: "externalPower=on")
            }
            #expect(refusal?.code == .unavailable)
            #expect(!subject.simulation.status.isActive)
        }
    }
}
