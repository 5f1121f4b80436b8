// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostConfiguration
@testable import BghostHost
@testable import BghostLinux
import BghostOwnerSupport
@testable import BghostServices
import BghostTestSupport
import Synchronization
import Testing

/// The owner that speaks with the service manager, on a clock of the test and with threads of the test.
@Suite(.timeLimit(.minutes(5))) struct ServiceReporterTests {
    /// What the service manager has received.
    private final class Manager: Sendable {
        private let state = Mutex((received: [[ServiceMessage]](), isDeaf: false))

        func take() -> [[ServiceMessage]] {
            state.withLock { state in
                defer { state.received = [] }
                return state.received
            }
        }

        func setDeaf(_ isDeaf: Bool) { state.withLock { $0.isDeaf = isDeaf } }

        func receive(_ messages: [ServiceMessage]) -> Bool {
            state.withLock { state in
                if !state.isDeaf { state.received.append(messages) }
                return !state.isDeaf
            }
        }
    }

    /// What the reporter asks.
    private final class World {
        let store = ScriptedStore()
        /// Monotonic nanoseconds.
        var now: MonotonicInstant = 1_000_000_000_000
        var status = "idle"
        /// Whether the spawner's thread answers.
        var spawnerAnswers = true

        func pass(_ seconds: Double) { now += UInt64(seconds * 1_000_000_000) }
    }

    /// A reporter whose watchdog wants a sign within 2 s.
    private struct Subject {
        let manager = Manager()
        let world = World()
        let reporter: ServiceReporter

        init(_ reactor: Reactor) {
            let (manager, world) = (manager, world)
            reporter = ServiceReporter(
                reactor,
                Deadlines(reactor),
                notify: { manager.receive($0) },
                watchdogTimeout: 2_000_000_000
            ) { thread, answer in
                switch thread {
                case .store: world.store.answer(answer)
                case .spawner: if world.spawnerAnswers { answer() }
                }
            } describe: {
                world.status
            } now: {
                world.now
            }
        }

        /// Lets answers of threads arrive.
        nonisolated(nonsending) func settle() async {
            for _ in 0..<100 { await Task.yield() }
        }
    }

    private static func withSubject(
        _ body: @Sendable (isolated ReactorActor, Subject) async throws -> Void
    ) async throws {
        try await ReactorActor.run { actor in
            try await body(actor, Subject(actor.reactor))
        }
    }

    // MARK: States

    @Test func `The order is ready, reloading, ready, stopping`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            reporter.stateChanged()
            reporter.deadlinePassed(.service)
            #expect(manager.take().isEmpty, "nothing is said before the socket accepts")
            reporter.ready()
            #expect(manager.take() == [[.ready, .status("idle")]])
            reporter.ready()
            #expect(manager.take().isEmpty)
            subject.world.pass(1)
            reporter.reloadBegan()
            // Another one, which is refused, ends first.
            reporter.reloadBegan()
            reporter.reloadEnded()
            #expect(
                manager.take() == [
                    [
                        .reloading(since: subject.world.now.nanoseconds / 1000),
                        .status("reloading the manifest"),
                    ]
                ]
            )
            reporter.reloadEnded()
            #expect(manager.take() == [[.ready, .status("idle")]])
            subject.world.status = "stopping"
            reporter.drainBegan()
            reporter.drainBegan()
            #expect(manager.take() == [[.stopping, .status("stopping")]])
            // A reload that ends during the drain does not make it ready again.
            reporter.reloadBegan()
            reporter.reloadEnded()
            #expect(manager.take().isEmpty)
        }
    }

    @Test func `A status is sent once a second at most, and only if it differs`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            reporter.ready()
            _ = manager.take()
            for count in 1...1000 {
                subject.world.status = "\(count) runs"
                reporter.stateChanged()
            }
            subject.world.pass(0.5)
            reporter.deadlinePassed(.service)
            #expect(manager.take().isEmpty)
            subject.world.pass(0.5)
            reporter.deadlinePassed(.service)
            #expect(manager.take() == [[.status("1000 runs")]])
            subject.world.pass(5)
            reporter.stateChanged()
            reporter.deadlinePassed(.service)
            #expect(manager.take().isEmpty, "it is the same")
        }
    }

    @Test func `The reporter resends messages that the socket refused`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            manager.setDeaf(true)
            reporter.ready()
            for _ in 0..<100 {
                reporter.reloadBegan()
                reporter.reloadEnded()
            }
            manager.setDeaf(false)
            subject.world.pass(1)
            reporter.deadlinePassed(.service)
            let received = manager.take()
            #expect(received.first?.last == .ready)
            #expect(received.first.map { $0.count <= 16 } == true, "what waits is bounded")
            #expect(received.last == [.status("idle")])
        }
    }

    @Test func `A drain asks for more time as long as it lasts`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            reporter.ready()
            reporter.drainBegan()
            _ = manager.take()
            for _ in 0..<3 {
                reporter.deadlinePassed(.service)
                #expect(manager.take() == [[.extendTimeout(20_000_000)]])
                reporter.deadlinePassed(.service)
                #expect(manager.take().isEmpty)
                subject.world.pass(5)
            }
        }
    }

    // MARK: The watchdog

    @Test func `The daemon pings the watchdog only if all threads answer`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            reporter.begin()
            await subject.settle()
            for _ in 0..<3 {
                subject.world.pass(1)
                reporter.deadlinePassed(.watchdog)
                #expect(manager.take() == [[.watchdog]])
                await subject.settle()
            }
        }
    }

    @Test func `A hanging store stops the watchdog pings until it answers`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            await subject.world.store.hang(true)
            reporter.begin()
            for _ in 0..<5 {
                await subject.settle()
                subject.world.pass(1)
                reporter.deadlinePassed(.watchdog)
            }
            #expect(manager.take().isEmpty)
            await subject.world.store.hang(false)
            var received: [[ServiceMessage]] = []
            await ReactorActor.wait {
                received += manager.take()
                return !received.isEmpty
            }
            #expect(received == [[.watchdog]])
        }
    }

    @Test func `A hanging spawner stops the watchdog pings`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            subject.world.spawnerAnswers = false
            reporter.begin()
            for _ in 0..<5 {
                await subject.settle()
                subject.world.pass(1)
                reporter.deadlinePassed(.watchdog)
            }
            #expect(manager.take().isEmpty)
        }
    }

    @Test func `During a drain the manager's time for a stop counts instead`() async throws {
        try await Self.withSubject { _, subject in
            let (reporter, manager) = (subject.reporter, subject.manager)
            await subject.world.store.hang(true)
            reporter.ready()
            reporter.begin()
            reporter.drainBegan()
            _ = manager.take()
            subject.world.pass(1)
            reporter.deadlinePassed(.watchdog)
            #expect(manager.take() == [[.watchdog]])
        }
    }

    // MARK: The daemon

    @Test func `The daemon's events set the status line of systemd`() async throws {
        let manager = Manager()
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor) { $0.notify = { manager.receive($0) } }
            daemon.owners.reporter.ready()
            #expect(
                manager.take() == [[.ready, .status("0 runs in progress, 0 requests pending")]]
            )
            let run = try await daemon.run()
            _ = try await daemon.submit()
            await ReactorActor.wait {
                daemon.passDeadlines()
                return manager.take() == [[.status("1 run in progress, 1 request pending")]]
            }
            daemon.plugin.problem = PluginProblem(message: "it crashed", files: daemon.plugin.files)
            daemon.end(run)
            await ReactorActor.wait {
                daemon.passDeadlines()
                return manager.take().contains { messages in
                    messages.contains {
                        if case .status(let text) = $0 {
                            text.hasSuffix("; problems: plugin plugin cannot be used")
                        } else {
                            false
                        }
                    }
                }
            }
        }
    }

    @Test func `Without a service manager no watchdog timer is armed`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let (reporter, deadlines) = (daemon.owners.reporter, daemon.owners.services.deadlines)
            let before = deadlines.count
            reporter.begin()
            reporter.ready()
            reporter.stateChanged()
            reporter.drainBegan()
            #expect(deadlines.count == before)
        }
    }
}
