// SPDX-License-Identifier: Apache-2.0

import BghostAlerts
@testable import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Synchronization
import Testing

private let second: Int64 = 1_000_000_000
private let start = AlertOwnersFixture.start

/// The owners that tell of trouble: with a clock and receivers of the test, and without a process.
@Suite struct AlertMonitorTests {
    static let hook = AlertReceiver.webhook(url: "https://a.example/x", headers: [], secret: nil)
    static let topic = AlertReceiver.ntfy(url: "https://b.example/y", token: nil)

    @Test(.timeLimit(.minutes(5)))
    func `Failures in a row are told once, and their end once`() async throws {
        let manifest = try AlertOwnersFixture.manifest()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.ended(.failed)
            owners.ended(.failed)
            #expect(owners.events().contains("alert.firing"))
            #expect(owners.alerts.report.alerts.map(\.rule) == ["failures"])
            owners.pass(10)
            await ReactorActor.wait { owners.titles(Self.hook).count == 1 }
            await ReactorActor.wait { owners.alerts.report.alerts.first?.toldAt != nil }
            owners.ended(.failed)
            owners.pass(100)
            owners.ended(.succeeded)
            owners.pass(10)
            await ReactorActor.wait { owners.titles(Self.hook).count == 2 }
            #expect(owners.titles(Self.hook)[0].hasSuffix(": backup fails"))
            #expect(owners.titles(Self.hook)[1].hasSuffix(": resolved: backup fails"))
            #expect(owners.alerts.report.alerts.isEmpty)
            #expect(owners.alerts.monitor.check?.state == .ok)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A receiver that fails does not delay others, which are told of it`() async throws {
        let manifest = try AlertOwnersFixture.manifest([Self.hook, Self.topic])
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.transport.fail([Self.hook])
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            owners.pass(10)
            await ReactorActor.wait { owners.events().contains("alert.undelivered") }
            owners.pass(10)
            await ReactorActor.wait { owners.titles(Self.topic).count == 2 }
            #expect(owners.titles(Self.topic)[0].hasSuffix(": plugin plugin cannot be used"))
            #expect(
                owners.titles(Self.topic)[1].hasSuffix(
                    ": webhook https://a.example takes no alerts"
                )
            )
            let entry = owners.log.entries(matching: LogFilter(), limit: 100)
                .first { $0.event == "alert.undelivered" }
            #expect(entry?.level == .fault)
            let check = owners.alerts.monitor.check
            #expect(check?.state == .warning && check?.message.contains("503") == true)
            // All fail: the daemon has no way to tell anybody but its log and its health.
            owners.transport.fail([Self.hook, Self.topic])
            owners.alerts.monitor.pluginChanged("plugin", problem: nil)
            owners.pass(10)
            await ReactorActor.wait { owners.alerts.monitor.check?.state == .critical }
            #expect(owners.alerts.monitor.problem == "no alert can be delivered")
            owners.transport.fail([])
            owners.alerts.monitor.raise(AlertKey(.store), "x")
            for _ in 0..<5 { owners.pass(60) }
            await ReactorActor.wait {
                owners.alerts.report.receivers.allSatisfy { $0.failingSince == nil }
            }
            owners.alerts.stop()
        }
    }

    @Test(arguments: [AlertRule.fleet, .partitions, .ownerless])
    func `A lost lease is told over a restart, and to a later manifest`(_ rule: AlertRule)
        async throws
    {
        var manifest = try AlertOwnersFixture.manifest()
        manifest.host.fleet = FleetSettings(connection: "", name: "a", lease: .seconds(30))
        try await ReactorActor.run { [manifest] actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            let monitor = owners.alerts.monitor
            let row = AlertRow(key: AlertKey(rule), since: start, detail: "", toldAt: start)
            monitor.recover([row], [])
            owners.begin(manifest)
            let fires = owners.alerts.report.alerts.map(\.rule)
            #expect(fires == [rule.rawValue], "it is not known yet")
            monitor.fleetChanged(rule, problem: nil)
            #expect(owners.alerts.report.alerts.isEmpty)
            monitor.apply(Manifest())
            monitor.fleetChanged(rule, problem: "no lease")
            #expect(owners.alerts.report.alerts.isEmpty)
            monitor.apply(manifest)
            #expect(owners.alerts.report.alerts.map(\.detail) == ["no lease"])
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A full queue drops the oldest, and the next message says so`() async throws {
        let manifest = try AlertOwnersFixture.manifest()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.transport.fail([Self.hook])
            let sender = owners.alerts.sender
            let item = AlertMessage.Item(
                key: AlertKey(.store),
                state: .firing,
                since: start,
                detail: ""
            )
            for number in 1...UInt64(AlertSender.queueMax + 5) {
                let number = 1000 + number
                sender.send(AlertMessage(number: number, items: [item], firing: 1, at: start))
            }
            #expect(sender.counts.dropped == 5)
            owners.transport.fail([])
            await ReactorActor.wait { sender.counts.sent >= 2 }
            #expect(owners.transport.sent.contains { $0.delivery.dropped == 5 })
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A store that fails alarms, and nothing is lost for want of it`() async throws {
        let manifest = try AlertOwnersFixture.manifest()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            let full = StoreError("no space", kind: .full)
            await owners.store.setHealth(
                StoreHealth(failure: .init(since: start, error: full, isFinal: false))
            )
            await ReactorActor.wait { !owners.alerts.report.alerts.isEmpty }
            owners.pass(10)
            await ReactorActor.wait { owners.titles(Self.hook).count == 1 }
            #expect(owners.titles(Self.hook)[0].hasSuffix(": the store fails"))
            await owners.store.setHealth(StoreHealth())
            await ReactorActor.wait { owners.alerts.report.alerts.isEmpty }
            owners.pass(10)
            await ReactorActor.wait { owners.titles(Self.hook).count == 2 }
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A late start alarms, and dead letters until they are gone`() async throws {
        let manifest = try AlertOwnersFixture.manifest {
            $0.expect = TaskExpectation(start: .seconds(60))
        }
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.setProblem("gone")
            let made = try owners.intake.check(Submission(task: "backup"))
            owners.intake.store(try #require(made))
            owners.pass(59)
            #expect(owners.alerts.report.alerts.isEmpty)
            owners.pass(1)
            #expect(owners.alerts.report.alerts.map(\.rule) == ["late-start"])
            #expect(owners.alerts.report.alerts.first?.detail.contains("bghost why backup") == true)
            // It starts now; nothing executes that decision.
            owners.setProblem(nil)
            #expect(owners.dispatcher.scheduler.pending("backup") == nil)
            owners.pass(60)
            #expect(owners.alerts.report.alerts.isEmpty)

            var record = RunRecord(
                id: RunID(high: 1, low: 1),
                request: RunID(high: 2, low: 1),
                task: "backup",
                plugin: "plugin",
                limits: RunLimits(kind: .refresh),
                submittedAt: start
            )
            record.outcome = .failed
            let request = try #require(made).request
            owners.commits.commit([.runEnded(record, then: .dead(request, reason: "x"))])
            #expect(owners.alerts.report.alerts.contains { $0.rule == "dead-letters" })
            owners.commits.commit([.discarded(request.id)])
            #expect(!owners.alerts.report.alerts.contains { $0.rule == "dead-letters" })
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `The heartbeat says what is wrong, and nothing in a window`() async throws {
        // 2026-09-21T14:13:20Z is a Monday.
        let manifest = try AlertOwnersFixture.manifest(mute: ["mon 15:00-16:00"], heartbeat: true)
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            await ReactorActor.wait { owners.transport.beats.count == 1 }
            #expect(owners.transport.beats == [""])
            await ReactorActor.wait { owners.alerts.report.heartbeat?.sentAt != nil }
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            owners.wall.move(1)
            owners.alerts.heartbeat.deadlinePassed()
            await ReactorActor.wait { owners.alerts.report.heartbeat?.sentAt == start + second }
            #expect(owners.transport.beats[1] == "plugin plugin cannot be used: it crashed")
            #expect(owners.alerts.report.heartbeat?.reasons.isEmpty == false)
            owners.wall.move(3600)
            #expect(owners.alerts.report.mutedUntil != nil)
            owners.alerts.heartbeat.deadlinePassed()
            await ReactorActor.wait { owners.transport.beats.count == 3 }
            #expect(owners.transport.beats[2].isEmpty)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A test asks each receiver, and a reload ends what it removes`() async throws {
        let manifest = try AlertOwnersFixture.manifest([Self.hook, Self.topic])
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.transport.fail([Self.topic])
            let tests = try await owners.alerts.monitor.test()
            #expect(tests.map(\.delivered) == [true, false])
            #expect(tests.map(\.answer) == ["it answered 200", "it answered 503"])
            owners.ended(.failed)
            owners.ended(.failed)
            #expect(owners.alerts.report.alerts.count == 1)
            var other = manifest
            other.tasks = []
            owners.alerts.apply(other)
            #expect(owners.alerts.report.alerts.isEmpty)
            other.host.alerts = nil
            owners.alerts.apply(other)
            #expect(owners.alerts.monitor.check == nil && owners.alerts.monitor.problem == nil)
            await #expect(throws: OperatorRefusal.self) {
                _ = try await owners.alerts.monitor.test()
            }
            owners.alerts.stop()
        }
    }

    /// An event of a task that nothing is expected of reaches no deadline and no store.
    @Test(.timeLimit(.minutes(5)))
    func `Without alerts nothing is followed`() async throws {
        let manifest = SampleManifest.make()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.ended(.failed)
            owners.alerts.monitor.pluginChanged("plugin", problem: "x")
            #expect(owners.deadlines.count == 0)
            #expect(owners.alerts.report == AlertReport())
            owners.alerts.stop()
        }
    }
}
