// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
@testable import BghostDispatch
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostNotify
import BghostOwnerSupport
import BghostPolicy
import BghostWire
import Testing

/// The way of a notification from a plugin to the run that delivers it, without a process.
@Suite(.timeLimit(.minutes(5))) struct NotificationDeliveryTests {
    /// A daemon whose task `backup` delivers.
    private static func makeDaemon(_ reactor: Reactor) throws -> TestOwners {
        var manifest = SampleManifest.make { $0.retry.attemptsMax = 1 }
        manifest.notifications = NotificationSettings(task: manifest.tasks[0].identifier)
        let daemon = try TestOwners(reactor, manifest: manifest, slotCount: 2)
        daemon.owners.notifications.recover([], [], zone: .utc)
        return daemon
    }

    private static func content(_ id: String) -> NotificationContent {
        NotificationContent(id: id, title: "A storm comes")
    }

    /// What a post is answered with.
    private final class Answer {
        var isStored: [Bool] = []
    }

    private static func post(_ id: String, _ daemon: TestOwners) throws -> Answer {
        let answer = Answer()
        try daemon.owners.notifications.post(content(id), of: "plugin", zone: .utc) { result in
            if case .success = result {
                answer.isStored.append(true)
            } else {
                answer.isStored.append(false)
            }
        }
        return answer
    }

    @Test func `A notification is answered once it is stored, and delivered by a run`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor)
            let answer = try Self.post("storm", daemon)
            #expect(answer.isStored == [true])
            #expect(daemon.executor.started[0].parameters.contains("A storm comes"))
            daemon.end(try #require(daemon.newestRun))
            #expect(daemon.events.contains("notification.delivered"))
            #expect(daemon.executor.started.count == 1)
        }
    }

    @Test func `Each notification is delivered by a run of its own`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try Self.makeDaemon(actor.reactor)
            _ = try Self.post("first", daemon)
            let second = try Self.post("second", daemon)
            #expect(second.isStored == [true])
            await ReactorActor.wait { !daemon.executor.started.isEmpty }
            daemon.end(try #require(daemon.newestRun))
            await ReactorActor.wait { daemon.executor.started.count == 2 }
            #expect(daemon.executor.started[1].parameters.contains("A storm comes"))
        }
    }

    @Test func `Without a delivering task a post is refused`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            daemon.owners.notifications.recover([], [], zone: .utc)
            #expect(throws: NotificationFault.self) { try Self.post("storm", daemon) }
        }
    }
}
