// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostFacts
@testable import BghostLinux
import BghostModel
import BghostTestSupport
import Testing

/// The owner of the facts, without a daemon and without a process.
@Suite struct FactMonitorTests {
    /// A monitor, the requirements for which sources were made, and the source that the test tells.
    private final class Bench {
        let reactor: Reactor
        private(set) var made: [RequirementSet] = []
        let source = ManualFacts([.externalPower, .network])
        var now = Moment(monotonic: 1_000_000_000, unix: 1_000_000_000)

        init() throws { reactor = try Reactor() }

        func monitor(_ definitions: FactDefinitions = FactDefinitions()) -> FactMonitor {
            FactMonitor(definitions, reactor: reactor) { wanted, _ in
                self.made.append(wanted)
                return [self.source]
            }
        }

        /// Reports of the source arrive through its descriptor, as in the reactor's wait.
        func receive(_ monitor: FactMonitor) -> RequirementSet {
            monitor.ready(FactMonitor.tokens, .input, now: now)
        }

        func pass(seconds: UInt64) {
            now.monotonic += seconds * 1_000_000_000
            now.unix += Int64(seconds) * 1_000_000_000
        }
    }

    @Test func `The monitor watches nothing until a task requires a fact`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        #expect(try monitor.watch([], FactDefinitions(), now: bench.now) == [])
        #expect(bench.made == [])
        #expect(monitor.sheet == nil)
        #expect(monitor.deadline == .never)
    }

    @Test func `The monitor returns a change once`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        _ = try monitor.watch(.externalPower, FactDefinitions(), now: bench.now)
        bench.source.report(.externalPower, .state(false))
        #expect(bench.receive(monitor) == .externalPower)
        #expect(bench.receive(monitor) == [])
        #expect(monitor.sheet?[.externalPower].value == .fails)
        #expect(FactMonitor.owns(FactMonitor.tokens + 1))
        #expect(!FactMonitor.owns(1), "a worker's descriptor")
    }

    @Test func `A request's requirement is watched too, and known facts stay known`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        _ = try monitor.watch(.externalPower, FactDefinitions(), now: bench.now)
        bench.source.report(.externalPower, .state(false))
        _ = bench.receive(monitor)

        #expect(!monitor.note(requested: .externalPower), "it is watched already")
        #expect(monitor.note(requested: .network))
        let changed = try monitor.watch(.externalPower, FactDefinitions(), now: bench.now)
        #expect(bench.made == [.externalPower, [.externalPower, .network]])
        #expect(!changed.contains(.externalPower))
        #expect(monitor.sheet?[.externalPower].value == .fails)

        // A manifest that no longer requires it does not end what the request requires.
        _ = try monitor.watch([], FactDefinitions(), now: bench.now)
        #expect(bench.made.count == 2)
    }

    @Test func `A reading that must last changes the fact at the deadline, not before`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        _ = try monitor.watch(.network, FactDefinitions(), now: bench.now)
        bench.source.report(.network, .state(false))
        _ = bench.receive(monitor)
        bench.pass(seconds: 60)
        _ = monitor.deadlinePassed(now: bench.now)
        bench.source.report(.network, .state(true))
        #expect(bench.receive(monitor) == [])
        let deadline = monitor.deadline
        #expect(deadline > bench.now.monotonic && deadline != .never)
        let text = monitor.description(of: .network, now: bench.now.monotonic)
        #expect(text.contains("settling, met in "), "\(text)")
        bench.now.monotonic = deadline
        #expect(monitor.deadlinePassed(now: bench.now) == .network)
    }

    @Test func `A fact that is not watched can be simulated`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        let off = try SimulatedFact("network=off", probes: monitor.probes)
        #expect(try monitor.simulate(off, now: bench.now) == .network)
        #expect(bench.made == [], "no source is needed for it")
        #expect(monitor.sheet?.simulations == [off])
        let real = try SimulatedFact("network=real", probes: monitor.probes)
        #expect(try monitor.simulate(real, now: bench.now) == .network)
        #expect(monitor.sheet?.simulations == [])
    }

    @Test func `After its end the monitor watches nothing and has no deadline`() throws {
        let bench = try Bench()
        let monitor = bench.monitor()
        _ = try monitor.watch(.network, FactDefinitions(), now: bench.now)
        bench.source.report(.network, .state(true))
        _ = bench.receive(monitor)
        monitor.stop()
        #expect(monitor.deadline == .never)
        #expect(bench.receive(monitor) == [])
    }
}
