// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
@testable import BghostNotify
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import Testing

/// The owner of the commands for notifications and of the answers to them, without a process.
@Suite(.timeLimit(.minutes(5))) struct NotificationCommandsTests {
    private final class World {
        var permissions = ["plugin": Permissions(notify: true)]
    }

    /// Two plugins that may notify; the task `tell.*` of the first delivers.
    private struct Subject {
        let bench: CommandBench
        let world = World()
        let delivery: NotificationDelivery
        let commands: NotificationCommands

        init(_ reactor: Reactor, delivers: Bool = true) throws {
            var manifest = try CommandBench.manifest(["tell.*", "report"]) {
                if $0.identifier.description == "report" { $0.learnsUse = true }
            }
            manifest.plugins[0].permissions.notify = true
            manifest.plugins.append(
                PluginDefinition(
                    name: "second",
                    library: "second.so",
                    permissions: Permissions(notify: true)
                )
            )
            let settings = NotificationSettings(task: manifest.tasks[0].identifier)
            let (bench, world) = (CommandBench(reactor, manifest), world)
            self.bench = bench
            world.permissions["second"] = Permissions(notify: true)
            delivery = NotificationDelivery(
                delivers ? settings : nil,
                manifestPath: "tasks.json",
                bench.dispatcher,
                bench.commits,
                bench.intake,
                DateWatch(bench.clock, bench.deadlines, bench.dispatcher, log: bench.log) { _ in
                    nil
                },
                bench.clock,
                log: bench.log
            )
            delivery.recover([], [], zone: .utc)
            commands = NotificationCommands(
                delivery,
                bench.intake,
                UseCommands(
                    bench.dispatcher,
                    bench.commits,
                    bench.clock,
                    manifestPath: "tasks.json"
                ),
                bench.clock,
                log: bench.log,
                manifestPath: "tasks.json",
                zone: { .utc },
                permissions: { world.permissions[$0] }
            )
        }

        func post(_ id: String, of plugin: String = "plugin") throws {
            let content = NotificationContent(
                id: id,
                title: "A storm comes",
                actions: [.init(id: "close", title: "Close the roof")]
            )
            try delivery.post(content, of: plugin, zone: .utc) { _ in }
        }

        /// Why a notification takes no answer; `nil` if it took one.
        nonisolated(nonsending) func refusal(
            _ reference: NotificationReference
        ) async -> OperatorRefusal? {
            do throws(OperatorRefusal) {
                _ = try await commands.act(on: reference, action: "close", text: nil)
                return nil
            } catch {
                return error
            }
        }

        /// The requests for answers that wait or run.
        var answers: [String] {
            bench.started.map(\.record.task).filter { $0.hasPrefix("notificationAction.") }
        }
    }

    @Test func `An answer becomes one request of the plugin that posted`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            try subject.post("storm")
            let answer = try await subject.commands.act(
                on: .id("storm", plugin: nil),
                action: "close",
                text: "now"
            )
            #expect(answer.plugin == "plugin" && answer.action == "close")
            #expect(answer.task.hasPrefix("notificationAction.plugin."))
            #expect(subject.answers == [answer.task])
            #expect(subject.bench.events.last == "notification.answered")
            let parameters = try #require(subject.bench.started.last).parameters
            #expect(parameters.contains("close") && parameters.contains("now"))
        }
    }

    @Test(
        arguments: [
            ("clsoe", nil, "did you mean `close`?"),
            ("close", String(repeating: "x", count: 5000), "more than 4096 bytes"),
        ] as [(String, String?, String)]
    )
    func `An answer that the notification does not offer is refused`(
        action: String,
        text: String?,
        hint: String
    ) async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            try subject.post("storm")
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.act(
                    on: .id("storm", plugin: nil),
                    action: action,
                    text: text
                )
            }
            #expect(refusal?.code == .badAction)
            #expect(refusal?.message.contains(hint) == true, "\(String(describing: refusal))")
            #expect(subject.answers.isEmpty)
        }
    }

    @Test func `A plugin that may not notify any more, or is gone, gets no answer`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            try subject.post("storm")
            for (permissions, code) in [
                (Permissions(), OperatorRefusal.Code.notPermitted), (nil, .badAction),
            ] {
                subject.world.permissions["plugin"] = permissions
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await subject.commands.act(
                        on: .id("storm", plugin: nil),
                        action: "close",
                        text: nil
                    )
                }
                #expect(refusal?.code == code)
            }
            #expect(subject.answers.isEmpty)
        }
    }

    @Test func `A name that several plugins use needs the plugin, and a wrong one has a hint`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            try subject.post("storm")
            try subject.post("storm", of: "second")
            let several = await subject.refusal(.id("storm", plugin: nil))
            #expect(several?.code == .ambiguousNotification)
            #expect(several?.fix == "name one with --plugin: plugin, second")
            let misspelled = await subject.refusal(.id("strom", plugin: nil))
            #expect(misspelled?.code == .noSuchNotification)
            #expect(misspelled?.candidates == ["storm"])
            #expect(await subject.refusal(.token("0"))?.code == .noSuchNotification)
            #expect(subject.commands.find(token: "0") == nil)
            #expect(try subject.commands.statuses().map(\.plugin) == ["plugin", "second"])
            _ = try await subject.commands.act(
                on: .id("storm", plugin: "second"),
                action: "close",
                text: nil
            )
            #expect(subject.answers.count == 1)
        }
    }

    @Test func `A test is answered when it is stored, or with why it is not`() async throws {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor)
            let status = try await subject.commands.postTest()
            #expect(status.plugin == NotificationCommands.ownName)
            #expect(status.title.contains("bghost"))
            // It has no plugin that could take an answer.
            let answer = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.act(
                    on: .id(status.id, plugin: nil),
                    action: "default",
                    text: nil
                )
            }
            #expect(answer?.code == .badAction)
            subject.bench.store.answerAtOnce(.failure(CommandBench.full))
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.postTest()
            }
            #expect(refusal?.code == .unavailable)
        }
    }

    @Test func `Without a delivering task each command says what to write into the manifest`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = try Subject(actor.reactor, delivers: false)
            let list = #expect(throws: OperatorRefusal.self) {
                _ = try subject.commands.statuses()
            }
            let test = await #expect(throws: OperatorRefusal.self) {
                _ = try await subject.commands.postTest()
            }
            #expect(list == test && test?.code == .unavailable)
            #expect(test?.fix.contains("\"notifications\"") == true)
            #expect(subject.commands.find(token: "0") == nil)
        }
    }
}
