// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
@testable import BghostServices
import Synchronization
import Testing

/// The owner of the reports that the daemon lives, with a server of the test.
@Suite(.timeLimit(.minutes(5))) struct HeartbeatTests {
    private static let second: UInt64 = 1_000_000_000

    /// A server that answers as the test says, or not until the test says so.
    private final class Server: AlertTransport {
        private struct State {
            var beats: [(url: String, reasons: String)] = []
            var isBroken = false
            var isSlow = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        var reasons: [String] { state.withLock { $0.beats.map(\.reasons) } }
        var urls: [String] { state.withLock { $0.beats.map(\.url) } }

        func set(isBroken: Bool = false, isSlow: Bool = false) {
            let waiting = state.withLock { state in
                (state.isBroken, state.isSlow) = (isBroken, isSlow)
                defer { if !isSlow { state.waiting = [] } }
                return isSlow ? [] : state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }

        func send(
            _ delivery: AlertDelivery,
            to receiver: AlertReceiver,
            spawner: Spawner
        ) async -> Result<String, AlertFailure> { .failure(AlertFailure("no alert is expected")) }

        func beat(_ url: String, reasons: String) async -> Result<String, AlertFailure> {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    state.beats.append((url, reasons))
                    if state.isSlow { state.waiting.append(continuation) }
                    return state.isSlow
                }
                if !waits { continuation.resume() }
            }
            return state.withLock(\.isBroken)
                ? .failure(AlertFailure("it answered 503")) : .success("it answered 200")
        }
    }

    private final class World {
        var reasons: [String] = []
    }

    private struct Subject {
        let bench: CommandBench
        let server = Server()
        let world = World()
        let heartbeat: Heartbeat

        init(_ reactor: Reactor) {
            let (bench, world) = (CommandBench(reactor), world)
            self.bench = bench
            heartbeat = Heartbeat(
                server,
                reactor: reactor,
                bench.clock,
                bench.deadlines,
                log: bench.log,
                hasTrouble: { !world.reasons.isEmpty },
                reasons: { world.reasons }
            )
            bench.deadlines.begin { [heartbeat] _, date in heartbeat.isLive(date) }
        }

        /// Lets so many seconds pass from now on, and handles one deadline, if one has passed.
        func pass(seconds: UInt64) {
            var isDue = false
            let now = bench.clock.monotonic + seconds * HeartbeatTests.second
            bench.deadlines.handleDue(now: now) { _ in isDue = true }
            if isDue { heartbeat.deadlinePassed() }
        }

        /// Lets periods pass until so many reports were sent; none is sent while one is under way.
        nonisolated(nonsending) func passPeriods(until count: Int) async {
            await ReactorActor.wait {
                if server.reasons.count >= count { return true }
                pass(seconds: 3601)
                return false
            }
        }

        /// Waits for the answer to the last report.
        nonisolated(nonsending) func answered(_ count: Int) async {
            let wall = bench.wall.value
            await ReactorActor.wait { server.reasons.count == count }
            await ReactorActor.wait {
                heartbeat.status?.sentAt == wall || heartbeat.status?.error.isEmpty == false
            }
        }
    }

    private static func settings(_ seconds: Int64 = 3600) -> HeartbeatSettings {
        var settings = HeartbeatSettings(url: "https://a.example/ping/secret")
        settings.every = .seconds(seconds)
        return settings
    }

    @Test func `A report is sent at once and after each period`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            #expect(subject.heartbeat.status == nil)
            subject.heartbeat.apply(Self.settings())
            await subject.answered(1)
            #expect(subject.server.urls == ["https://a.example/ping/secret"])
            #expect(subject.heartbeat.status?.name.contains("secret") == false)
            // The same settings again are no reason for a report.
            subject.heartbeat.apply(Self.settings())
            subject.pass(seconds: 1800)
            #expect(subject.server.reasons.count == 1)
            for count in 2...3 {
                subject.bench.wall.pass(seconds: 3600)
                await subject.passPeriods(until: count)
                await subject.answered(count)
            }
            subject.heartbeat.apply(nil)
            subject.pass(seconds: 7200)
            #expect(subject.server.reasons.count == 3 && subject.heartbeat.status == nil)
        }
    }

    @Test func `A server that does not answer gets no second report meanwhile`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.server.set(isSlow: true)
            subject.heartbeat.apply(Self.settings())
            await ReactorActor.wait { subject.server.reasons.count == 1 }
            for _ in 0..<3 { subject.pass(seconds: 3601) }
            #expect(subject.heartbeat.status?.sentAt == nil)
            subject.server.set()
            await subject.answered(1)
            // The timer was armed all the same.
            subject.bench.wall.pass(seconds: 1)
            await subject.passPeriods(until: 2)
            await subject.answered(2)
            #expect(subject.server.reasons.count == 2)
        }
    }

    @Test func `A failure and its end are logged once`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.server.set(isBroken: true)
            subject.heartbeat.apply(Self.settings())
            await subject.answered(1)
            #expect(subject.heartbeat.status?.error == "it answered 503")
            #expect(subject.heartbeat.status?.sentAt == nil)
            for isBroken in [true, false, false] {
                let count = subject.server.reasons.count
                subject.server.set(isBroken: isBroken)
                subject.bench.wall.pass(seconds: 3600)
                await subject.passPeriods(until: count + 1)
                let wall = subject.bench.wall.value
                await ReactorActor.wait {
                    isBroken
                        ? subject.bench.events.count == 1
                        : subject.heartbeat.status?.sentAt == wall
                }
            }
            #expect(subject.bench.events == ["heartbeat.failed", "heartbeat.recovered"])
            #expect(subject.heartbeat.status?.error.isEmpty == true)
        }
    }

    @Test func `What begins or ends to be wrong is reported before the period, a change of it not`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.heartbeat.apply(Self.settings())
            await subject.answered(1)
            subject.heartbeat.stateChanged()
            subject.pass(seconds: 2)
            #expect(subject.server.reasons == [""])
            subject.world.reasons = ["a"]
            subject.bench.wall.pass(seconds: 2)
            subject.heartbeat.stateChanged()
            subject.pass(seconds: 2)
            await subject.answered(2)
            subject.world.reasons = ["a", "b"]
            subject.heartbeat.stateChanged()
            subject.pass(seconds: 2)
            subject.world.reasons = []
            subject.bench.wall.pass(seconds: 2)
            subject.heartbeat.stateChanged()
            // Not sooner than a second after the one before.
            #expect(!subject.heartbeat.isLive(.never))
            subject.pass(seconds: 2)
            await subject.answered(3)
            #expect(subject.server.reasons == ["", "a", ""])
        }
    }

    @Test func `Reasons are shortened to what a server takes`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.world.reasons = Array(
                repeating: String(repeating: "ä", count: 100),
                count: 1000
            )
            subject.heartbeat.apply(Self.settings())
            await subject.answered(1)
            let sent = try #require(subject.server.reasons.first)
            #expect(sent.utf8.count <= 10_000 && sent.utf8.count > 9000)
        }
    }

    @Test func `After the end of the daemon, or without a transport, nothing is sent`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.heartbeat.stop()
            subject.heartbeat.apply(Self.settings())
            #expect(subject.bench.deadlines.count == 0)
            let bench = CommandBench(actor.reactor)
            let none = Heartbeat(
                nil,
                reactor: actor.reactor,
                bench.clock,
                bench.deadlines,
                log: bench.log,
                hasTrouble: { false },
                reasons: { [] }
            )
            none.apply(Self.settings())
            #expect(bench.deadlines.count == 0)
            #expect(subject.server.reasons.isEmpty)
        }
    }
}
