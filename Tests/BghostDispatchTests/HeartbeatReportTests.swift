// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
@testable import BghostServices
import Testing

/// When the daemon reports that it lives, and what a server knows that does not answer.
@Suite struct HeartbeatReportTests {
    private static let second: UInt64 = 1_000_000_000

    private static func settings(_ name: String = "a") -> HeartbeatSettings {
        HeartbeatSettings(url: "https://\(name).example/z")
    }

    @Test(.timeLimit(.minutes(5)))
    func `Alerts that begin at once build one text, for the report`() async throws {
        try await ReactorActor.run { actor in
            let clock = DaemonClock(actor.reactor)
            let server = HeartbeatScript()
            let (trouble, built) = (Flag(), Flag())
            let heartbeat = Heartbeat(
                server,
                reactor: actor.reactor,
                clock,
                Deadlines(actor.reactor),
                log: HostLog(),
                hasTrouble: { trouble.count > 0 },
                reasons: {
                    built.count += 1
                    return trouble.count > 0 ? ["x"] : []
                }
            )
            heartbeat.apply(Self.settings())
            await ReactorActor.wait { server.beats.count == 1 }
            server.answer(200)
            await ReactorActor.wait { heartbeat.status?.sentAt != nil }
            for _ in 0..<1000 {
                trouble.count += 1
                heartbeat.stateChanged()
            }
            #expect(built.count == 1, "that of the first report")
            #expect(heartbeat.deadline <= clock.monotonic + 2 * Self.second)
            heartbeat.deadlinePassed()
            await ReactorActor.wait { server.beats.count == 2 }
            #expect(built.count == 2 && server.beats[1].reasons == "x")
            server.answer(200)
            await ReactorActor.wait { heartbeat.status?.error == "" }
            heartbeat.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A report of trouble that fails is sent again after seconds, and ever later`()
        async throws
    {
        var manifest = try AlertOwnersFixture.manifest()
        manifest.host.heartbeat = Self.settings()
        manifest.host.heartbeat?.every = .seconds(3600)
        try await ReactorActor.run { [manifest] actor in
            let server = HeartbeatScript()
            let owners = try AlertOwnersFixture(actor.reactor, manifest, beats: server)
            let heartbeat = owners.alerts.heartbeat
            owners.begin(manifest)
            await ReactorActor.wait { server.beats.count == 1 }
            server.answer(200)
            await ReactorActor.wait { heartbeat.status?.sentAt != nil }
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            for failures in 1...10 {
                heartbeat.deadlinePassed()
                await ReactorActor.wait { server.beats.count == failures + 1 }
                let begun = owners.clock.monotonic
                server.answer(503)
                await ReactorActor.wait { heartbeat.isIdle }
                let pause = Self.second << UInt64(min(failures, 6))
                #expect(heartbeat.deadline <= max(begun + pause, owners.clock.monotonic))
            }
            heartbeat.deadlinePassed()
            await ReactorActor.wait { server.beats.count == 12 }
            server.answer(200)
            await ReactorActor.wait { heartbeat.status?.error == "" }
            #expect(Set(server.beats.dropFirst().map(\.reasons)).count == 1)
            #expect(heartbeat.deadline > owners.clock.monotonic + 3000 * Self.second)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A server that a reload names during a report gets its first one then`() async throws {
        var manifest = try AlertOwnersFixture.manifest()
        manifest.host.heartbeat = Self.settings()
        try await ReactorActor.run { [manifest] actor in
            let server = HeartbeatScript()
            let owners = try AlertOwnersFixture(actor.reactor, manifest, beats: server)
            owners.begin(manifest)
            await ReactorActor.wait { server.beats.count == 1 }
            var other = manifest
            other.host.heartbeat = Self.settings("b")
            owners.alerts.apply(other)
            server.answer(503)
            await ReactorActor.wait { server.beats.count == 2 }
            #expect(server.beats[1].url == "https://b.example/z")
            let status = owners.alerts.report.heartbeat
            #expect(status?.error == "" && status?.sentAt == nil, "nothing is known of it yet")
            server.answer(200)
            await ReactorActor.wait { owners.alerts.report.heartbeat?.sentAt != nil }
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Trouble is reported when a window ends in which nothing is told`() async throws {
        // It begins on a Monday at 14:13:20.
        var manifest = try AlertOwnersFixture.manifest(mute: ["mon 14:00-15:00"])
        manifest.host.heartbeat = Self.settings()
        try await ReactorActor.run { [manifest] actor in
            let server = HeartbeatScript()
            let owners = try AlertOwnersFixture(actor.reactor, manifest, beats: server)
            let heartbeat = owners.alerts.heartbeat
            owners.begin(manifest)
            await ReactorActor.wait { server.beats.count == 1 }
            server.answer(200)
            await ReactorActor.wait { heartbeat.status?.sentAt != nil }
            let next = heartbeat.deadline
            owners.alerts.monitor.pluginChanged("plugin", problem: "it crashed")
            #expect(heartbeat.deadline == next)
            owners.pass(3600)
            #expect(heartbeat.deadline <= owners.clock.monotonic + 2 * Self.second)
            heartbeat.deadlinePassed()
            await ReactorActor.wait { server.beats.count == 2 }
            #expect(server.beats[1].reasons == "plugin plugin cannot be used: it crashed")
            server.answer(200)
            await ReactorActor.wait { heartbeat.isIdle }
            owners.alerts.stop()
        }
    }
}

/// A number that closures share.
private final class Flag {
    var count = 0
}
