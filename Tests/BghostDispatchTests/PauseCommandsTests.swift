// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import Testing

/// The owner of the commands that pause tasks, without a daemon and without a process.
@Suite(.timeLimit(.minutes(5))) struct PauseCommandsTests {
    private static let second = CommandBench.second

    private static func commands(
        _ bench: CommandBench,
        activeRuns: [RunRecord] = []
    ) -> PauseCommands {
        PauseCommands(
            bench.dispatcher,
            bench.commits,
            bench.clock,
            zone: { .utc },
            activeRuns: { activeRuns }
        )
    }

    private static func order(
        _ target: PauseTarget,
        _ end: PauseOrder.End = .open,
        reason: String = ""
    ) -> PauseOrder { PauseOrder(target: target, end: end, reason: reason, user: "root") }

    private static func run(_ number: UInt64, _ task: String, _ plugin: String) -> RunRecord {
        RunRecord(
            id: RunID(high: 2, low: number),
            request: RunID(high: 1, low: number),
            task: task,
            plugin: plugin,
            limits: RunLimits(kind: .refresh),
            submittedAt: 0
        )
    }

    @Test(
        arguments: [
            (PauseTarget.tasks("bakcup"), OperatorRefusal.Code.noSuchTask, "backup"),
            (.tasks("org.example.*"), .noSuchTask, "bghost status"),
            (.plugin("plugni"), .noSuchPlugin, "plugin"),
        ]
    )
    func `A target that the manifest does not have is refused, with what to write instead`(
        target: PauseTarget,
        code: OperatorRefusal.Code,
        hint: String
    ) async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await commands.pause(Self.order(target))
            }
            #expect(refusal?.code == code)
            #expect(refusal?.description.contains(hint) == true, "\(String(describing: refusal))")
            #expect(commands.pauses().isEmpty)
        }
    }

    @Test func `The end of a pause counts from now, and is bounded`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            let century: Int64 = 36_500 * 86_400
            for (seconds, expected) in [(90, 90), (-5, 0), (Int.max, century)] as [(Int, Int64)] {
                let pause = try await commands.pause(Self.order(.all, .after(seconds))).pause
                #expect(pause.until == CommandBench.start + expected * Self.second)
                #expect(pause.isRelative)
            }
            let dated = try await commands.pause(Self.order(.all, .at("2030-03-18T00:00:00Z")))
            #expect(dated.pause.until == 1_900_022_400 * Self.second && !dated.pause.isRelative)
            #expect(try await commands.pause(Self.order(.all)).pause.until == nil)
        }
    }

    @Test(arguments: ["tomorow", "", "2030-03-17T17:46:40Z", "2030-03-17T17:46:39Z"])
    func `An end that is no time to come is refused, and nothing is paused`(
        text: String
    ) async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await commands.pause(Self.order(.all, .at(text)))
            }
            #expect(refusal?.code == .badTime && refusal?.fix.isEmpty == false)
            #expect(commands.pauses().isEmpty)
        }
    }

    @Test func `A second pause of a target changes its end and its reason, not its beginning`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            _ = try await commands.pause(Self.order(.tasks("backup"), .after(60), reason: "a"))
            bench.wall.pass(seconds: 10)
            let second = try await commands.pause(Self.order(.tasks("backup"), reason: "b")).pause
            #expect(second.since == CommandBench.start && second.until == nil)
            #expect(commands.pauses() == [second] && second.reason == "b")
        }
    }

    @Test func `There are at most a thousand pauses, and each of them can still be changed`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try CommandBench.manifest(["job.*"]))
            let commands = Self.commands(bench)
            for number in 1...Pause.countMax {
                _ = try await commands.pause(Self.order(.tasks("job.\(number)")))
            }
            let refusal = await #expect(throws: OperatorRefusal.self) {
                _ = try await commands.pause(Self.order(.plugin("plugin")))
            }
            #expect(refusal?.code == .unavailable)
            #expect(refusal?.message.contains("1000") == true)
            _ = try await commands.pause(Self.order(.tasks("job.7"), reason: "later"))
            #expect(commands.pauses().count == Pause.countMax)
        }
    }

    @Test func `Nothing starts while a pause is on its way to the store, or cannot be stored`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            bench.store.answerAtOnce(nil)
            let pause = Task {
                _ = actor
                return try await commands.pause(Self.order(.all))
            }
            await ReactorActor.wait { !bench.store.commits.isEmpty }
            let accepted = try #require(
                try bench.dispatcher.decide { scheduler, now, _ throws(SubmitError) in
                    try scheduler.accept(Submission(task: "backup"), now: now)
                }
            )
            bench.dispatcher.decide { scheduler, now, effects in
                scheduler.finishSubmission(accepted, isStored: true, now: now, &effects)
            }
            #expect(bench.started.isEmpty)
            await bench.store.answerAll(.failure(CommandBench.full))
            let refusal = await #expect(throws: OperatorRefusal.self) { _ = try await pause.value }
            #expect(refusal?.code == .notStored)
            #expect(refusal?.message.contains("the disk is full") == true)
            #expect(commands.pauses().count == 1 && bench.started.isEmpty)
            bench.store.answerAtOnce(.success(()))
            _ = try await commands.resume(.all)
            #expect(bench.started.map(\.record.task) == ["backup"])
        }
    }

    @Test func `A pause names the runs of its target, and the pauses that cover it`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let runs = [
                Self.run(2, "backup", "plugin"), Self.run(1, "backup", "plugin"),
                Self.run(3, "other", "plugin"),
            ]
            let commands = Self.commands(bench, activeRuns: runs)
            let all = try await commands.pause(Self.order(.all))
            #expect(all.running == [1, 2, 3].map { RunID(high: 2, low: $0) } && all.others.isEmpty)
            let plugin = try await commands.pause(Self.order(.plugin("plugin")))
            #expect(plugin.others == [all.pause])
            let task = try await commands.pause(Self.order(.tasks("backup")))
            #expect(task.running == [1, 2].map { RunID(high: 2, low: $0) })
            #expect(Set(task.others.map(\.target)) == [.all, .plugin("plugin")])
            // After the end of its own pause the task is still paused.
            #expect(try await commands.resume(.tasks("backup")).others.count == 2)
        }
    }

    /// Why there is no pause to end; `nil` if there was one.
    private nonisolated(nonsending) static func refusal(
        _ commands: PauseCommands,
        of target: PauseTarget
    ) async -> OperatorRefusal? {
        do throws(OperatorRefusal) {
            _ = try await commands.resume(target)
            return nil
        } catch {
            return error
        }
    }

    @Test func `The end of a pause that there is not names the pauses that there are`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor)
            let commands = Self.commands(bench)
            let none = await Self.refusal(commands, of: .all)
            #expect(none?.code == .notPaused && none?.fix == "nothing is paused")
            _ = try await commands.pause(Self.order(.plugin("plugin")))
            let own = await Self.refusal(commands, of: .tasks("backup"))
            #expect(own?.fix == "it is paused with others: `bghost resume --plugin plugin`")
            let all = await Self.refusal(commands, of: .all)
            #expect(all?.fix.contains("`bghost resume --plugin plugin`") == true)
            #expect(commands.pauses().count == 1)
        }
    }
}
