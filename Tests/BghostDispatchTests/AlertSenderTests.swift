// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
@testable import BghostServices
import Testing

private let start = AlertOwnersFixture.start

/// What waits for a receiver, over windows, reloads and restarts.
@Suite(.timeLimit(.minutes(5))) struct AlertSenderTests {
    private static let hook = AlertOwnersFixture.hook
    /// Another address of the same server.
    private static let other = AlertReceiver.webhook(
        url: "https://a.example/y",
        headers: [],
        secret: nil
    )
    private static let name = "webhook https://a.example"

    private static func receiverAlerts(_ owners: AlertOwnersFixture) -> [String] {
        owners.alerts.report.alerts.filter { $0.rule == "receiver" }.map(\.subject)
    }

    /// Lets a message fail once, just before a window opens at 14:15.
    private static nonisolated(nonsending) func hold(
        _ owners: AlertOwnersFixture,
        _ receivers: [AlertReceiver]
    ) async {
        owners.transport.fail(receivers)
        owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
        owners.pass(10)
        owners.wall.move(100)
        await ReactorActor.wait {
            owners.alerts.sender.counts.failed == UInt64(receivers.count)
                && owners.alerts.sender.isHolding
        }
        owners.transport.fail([])
    }

    @Test func `A message that failed waits for the end of a window`() async throws {
        let manifest = try AlertOwnersFixture.manifest(mute: ["mon 14:15-15:00"])
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            await Self.hold(owners, [Self.hook])
            owners.pass(60)
            let receiver = owners.alerts.report.receivers.first
            #expect(receiver?.waiting == 1 && receiver?.failingSince == nil)
            #expect(owners.titles(Self.hook).count == 1)
            owners.pass(3600)
            await ReactorActor.wait { owners.titles(Self.hook).count == 2 }
            await ReactorActor.wait { owners.alerts.report.alerts.first?.toldAt != nil }
            #expect(owners.alerts.sender.counts.failed == 1)
            owners.alerts.stop()
        }
    }

    @Test func `What waits for a receiver outlives another one of its server`() async throws {
        let receivers = [Self.hook, Self.other]
        let manifest = try AlertOwnersFixture.manifest(receivers, mute: ["mon 14:15-15:00"])
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            await Self.hold(owners, receivers)
            await ReactorActor.wait {
                owners.alerts.report.receivers.allSatisfy { $0.waiting == 1 }
            }
            var second = manifest
            second.host.alerts?.receivers = [Self.other]
            owners.alerts.apply(second)
            let left = owners.alerts.report.receivers
            #expect(left.map(\.name) == [Self.name] && left.map(\.waiting) == [1])
            owners.pass(3600)
            await ReactorActor.wait { owners.alerts.report.receivers[0].deliveredAt != nil }
            #expect(owners.titles(Self.hook).count == 1 && owners.titles(Self.other).count == 2)
            owners.alerts.stop()
        }
    }

    @Test func `The alert of a receiver goes with it to its new name`() async throws {
        let receivers = [Self.hook, Self.other, AlertMonitorTests.topic]
        let manifest = try AlertOwnersFixture.manifest(receivers)
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.transport.fail([Self.other])
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            owners.pass(10)
            await ReactorActor.wait { Self.receiverAlerts(owners) == [Self.name + " (2)"] }
            var second = manifest
            second.host.alerts?.receivers = [Self.other, AlertMonitorTests.topic]
            owners.alerts.apply(second)
            #expect(Self.receiverAlerts(owners) == [Self.name])
            // The other way round, its name is that of one that takes messages.
            owners.alerts.apply(manifest)
            #expect(Self.receiverAlerts(owners) == [Self.name + " (2)"])
            owners.alerts.stop()
        }
    }

    @Test func `The first message that is taken after a restart ends the alert of its receiver`()
        async throws
    {
        let manifest = try AlertOwnersFixture.manifest()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            let key = AlertKey(.receiver, Self.name)
            let row = AlertRow(key: key, since: start, detail: "no route", toldAt: start)
            owners.alerts.monitor.recover([row], [])
            owners.begin(manifest)
            #expect(Self.receiverAlerts(owners) == [Self.name], "it is not known yet")
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            owners.pass(10)
            await ReactorActor.wait { Self.receiverAlerts(owners).isEmpty }
            #expect(owners.events().contains("alert.resolved"))
            owners.alerts.stop()
        }
    }
}
