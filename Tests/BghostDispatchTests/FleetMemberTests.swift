// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostMetrics
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import Synchronization
import Testing

/// The owner of the lease, with a fleet that answers as the test says; `BghostFleetTests` has a real one.
@Suite(.timeLimit(.minutes(5))) struct FleetMemberTests {
    private static let second: UInt64 = 1_000_000_000

    /// How long the machine has slept, which the test sets to let time pass.
    private final class Sleep: Sendable {
        private let nanoseconds = Atomic<UInt64>(0)

        var slept: UInt64 { nanoseconds.load(ordering: .relaxed) }

        func pass(seconds: UInt64) {
            nanoseconds.add(seconds * FleetMemberTests.second, ordering: .relaxed)
        }
    }

    /// What a member needs, on a reactor.
    private struct Parts {
        let sleep = Sleep()
        let link: ScriptedFleet
        let clock: DaemonClock
        let deadlines: Deadlines
        let dispatcher: Dispatcher
        let member: FleetMember
        let log = HostLog()

        init(_ reactor: Reactor, _ renewals: [Result<[FleetClaim], FleetProblem>]) {
            let sleep = sleep
            link = ScriptedFleet(renewals, slept: { sleep.slept })
            clock = DaemonClock(reactor, machineSlept: { sleep.slept })
            deadlines = Deadlines(reactor)
            let clock = clock
            dispatcher = Dispatcher(
                SampleManifest.settings(),
                moment: { clock.moment },
                recorder: nil
            )
            member = FleetMember(
                FleetSettings(connection: "", name: "one", lease: .seconds(600)),
                link,
                dispatcher,
                deadlines,
                clock,
                log: log,
                reactor: reactor
            ) { { "tasks" } }
        }

        func events() -> [String] {
            log.entries(matching: LogFilter(), limit: 100).map(\.event)
                .filter { $0.hasPrefix("fleet.") }
        }

        /// Registers the host, and waits until it has its answer.
        nonisolated(nonsending) func begin() async {
            member.begin()
            await ReactorActor.wait { !member.isRenewing }
        }

        /// Lets time pass, and waits until what is due then has its answer.
        nonisolated(nonsending) func pass(seconds: UInt64) async {
            sleep.pass(seconds: seconds)
            member.deadlinePassed()
            await ReactorActor.wait { !member.isRenewing }
        }
    }

    private static let unanswered = FleetProblem(.unreachable, "no server: it is off")

    @Test func `Runs may start for half of the lease, from the sending of the renewal`()
        async throws
    {
        try await ReactorActor.run { actor in
            let parts = Parts(actor.reactor, [.success([]), .failure(Self.unanswered)])
            let start = Monotonic.now
            parts.member.begin()
            // What has not failed yet is no loss.
            #expect(parts.member.lossSentence == nil && parts.member.metrics?.hasLease == false)
            #expect(parts.member.check?.message == "`one` joins the fleet")
            await ReactorActor.wait { !parts.member.isRenewing }
            #expect(parts.events() == ["fleet.joined"])
            #expect(parts.member.check?.message == "`one` has a lease in the fleet")
            let status = await parts.member.status()
            #expect(status.name == "one" && status.problem.isEmpty && status.lostAt == nil)
            // The machine may be slow.
            let least = 300 * Self.second - min(Monotonic.now.since(start), 300 * Self.second)
            #expect((least...300 * Self.second).contains(UInt64(status.validFor)))
            // The renewals after it fail, and the lease is kept until half of it has passed.
            await parts.pass(seconds: 120)
            #expect(parts.events() == ["fleet.joined", "fleet.unanswered"])
            #expect(await parts.member.status().validFor > 0)
            await parts.pass(seconds: 200)
            #expect(parts.events() == ["fleet.joined", "fleet.unanswered", "fleet.lost"])
            let lost = await parts.member.status()
            #expect(lost.validFor == 0 && lost.lostAt != nil)
            #expect(lost.problem == Self.unanswered.reason)
            #expect(parts.member.check?.state == .warning && parts.member.check?.since != nil)
            let metrics = parts.member.metrics
            #expect(metrics?.hasLease == false && metrics?.renewedAt != nil)
            #expect(metrics?.renewalsFailed == 2)
            await parts.member.leave()
            #expect(parts.link.hasLeft)
        }
    }

    @Test func `A host without an answer has no lease, and says so once`() async throws {
        try await ReactorActor.run { actor in
            let parts = Parts(actor.reactor, [.failure(Self.unanswered)])
            await parts.begin()
            #expect(parts.events() == ["fleet.lost"])
            for round in 2...4 {
                await parts.pass(seconds: 120)
                #expect(parts.link.renewed == round)
            }
            #expect(await parts.member.status().validFor == 0)
            #expect(parts.events() == ["fleet.lost"])
            await parts.member.leave()
        }
    }

    @Test func `An end that the fleet does not have yet is sent after the next renewal`()
        async throws
    {
        try await ReactorActor.run { actor in
            let parts = Parts(
                actor.reactor,
                [.success([]), .failure(Self.unanswered), .failure(Self.unanswered), .success([])]
            )
            var told: [String?] = []
            parts.member.onChange = { told.append($1) }
            await parts.begin()
            #expect(parts.events() == ["fleet.joined"])
            let claim = FleetClaim(task: "backup", slot: 1, request: RunID(high: 1, low: 1))
            parts.member.release(claim, .served)
            await parts.pass(seconds: 120)
            #expect(parts.link.renewed == 2)
            #expect(parts.link.releases == [])
            await parts.pass(seconds: 120)
            #expect(parts.link.renewed == 3)
            await parts.pass(seconds: 120)
            await ReactorActor.wait { parts.link.releases == [.served] }
            #expect(parts.events().last == "fleet.joined")
            // Once without a lease, and once with it again.
            #expect(told.count == 3 && told[0] == nil && told[2] == nil, "\(told)")
            #expect(told[1]?.hasSuffix(Self.unanswered.reason) == true, "\(told)")
            #expect(parts.member.lossSentence == nil && parts.member.check?.state == .ok)
            await parts.member.leave()
        }
    }

    private static func host(_ name: String) -> FleetHost {
        FleetHost(name: name, version: "1", leaseLeft: 1, seenAt: 1, claims: 0)
    }

    @Test func `A drain is sent to the fleet, and this host says that it knows`() async throws {
        try await ReactorActor.run { actor in
            let parts = Parts(actor.reactor, [.success([])])
            parts.link.show([Self.host("one"), Self.host("two")])
            await parts.begin()
            #expect(parts.link.tasks == "tasks")
            let drain = try await parts.member.setDrained(true, host: "one")
            #expect(drain.isChanged && drain.host.drainedAt != nil)
            #expect(try await !parts.member.setDrained(true, host: "one").isChanged)
            #expect(parts.events() == ["fleet.joined"])
            await parts.pass(seconds: 120)
            await parts.pass(seconds: 120)
            #expect(parts.events() == ["fleet.joined", "fleet.drained"])
            #expect(parts.member.check?.state == .ok)
            #expect(parts.member.check?.message.contains("is drained") == true)
            #expect(try await parts.member.setDrained(false, host: "one").isChanged)
            await parts.pass(seconds: 120)
            #expect(parts.events() == ["fleet.joined", "fleet.drained", "fleet.undrained"])
            #expect(parts.member.check?.message.contains("is drained") == false)
            // What the daemon finds is part of its answer.
            let status = await parts.member.status()
            #expect(status.hosts.count == 2 && status.findings == status.diagnosis)
            await parts.member.leave()
            let late = await #expect(throws: OperatorRefusal.self) {
                _ = try await parts.member.setDrained(true, host: "one")
            }
            #expect(late?.code == .unavailable)
        }
    }

    @Test func `A drain that cannot be is refused with the reason`() async throws {
        try await ReactorActor.run { actor in
            let parts = Parts(actor.reactor, [.success([]), .failure(Self.unanswered)])
            parts.link.show([Self.host("web-1"), Self.host("web-2")])
            // Before it registers there is no way to the fleet.
            let early = await #expect(throws: OperatorRefusal.self) {
                _ = try await parts.member.setDrained(true, host: "web-1")
            }
            #expect(early?.code == .unavailable)
            await parts.begin()
            let away = await #expect(throws: OperatorRefusal.self) {
                _ = try await parts.member.setDrained(true, host: "web-1")
            }
            #expect(away?.code == .fleetUnanswered)
            #expect(away?.message.contains(Self.unanswered.reason) == true)
            await parts.member.leave()

            let other = Parts(actor.reactor, [.success([])])
            other.link.show([Self.host("web-1"), Self.host("web-2")])
            await other.begin()
            let unknown = await #expect(throws: OperatorRefusal.self) {
                _ = try await other.member.setDrained(true, host: "web-x")
            }
            #expect(unknown?.code == .noSuchHost && unknown?.candidates == ["web-1"])
            // The store would read the first one as `web-1`, so it is not asked.
            for name in ["web-1\u{0}x", String(repeating: "a", count: 65)] {
                let odd = await #expect(throws: OperatorRefusal.self) {
                    _ = try await other.member.setDrained(true, host: name)
                }
                #expect(odd?.code == .noSuchHost)
            }
            #expect(other.link.drainsAsked == ["web-x"])
            await other.member.leave()
        }
    }

    @Test func `Without a fleet there is nothing to do`() async throws {
        try await ReactorActor.run { actor in
            let parts = Parts(actor.reactor, [.success([])])
            let none = FleetMember(
                nil,
                nil,
                parts.dispatcher,
                parts.deadlines,
                parts.clock,
                log: parts.log,
                reactor: actor.reactor
            )
            none.begin()
            #expect(await none.status() == FleetStatus())
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await none.setDrained(true, host: "one")
            }
            #expect(refusal?.code == .noFleet)
            await none.leave()
            #expect(parts.deadlines.count == 0)
        }
    }
}
