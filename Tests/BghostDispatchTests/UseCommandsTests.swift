// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
import Testing

/// The owner of the commands for learned uses, without a daemon and without a process.
@Suite(.timeLimit(.minutes(5))) struct UseCommandsTests {
    private static let day: Int64 = 86_400

    /// Two plugins: of the first the tasks `a` and `b` learn, and `other` does not; `c` is of the second.
    private static func manifest() throws -> Manifest {
        func task(_ name: String, of plugin: String, learns: Bool) throws -> TaskDefinition {
            TaskDefinition(
                identifier: try #require(IdentifierPattern(name)),
                handler: .plugin(name: plugin, handler: "h"),
                tolerance: .seconds(3600),
                learnsUse: learns
            )
        }
        return Manifest(
            plugins: ["plugin", "second"].map {
                PluginDefinition(name: $0, library: "\($0).so")
            },
            tasks: [
                try task("a", of: "plugin", learns: true),
                try task("b", of: "plugin", learns: true),
                try task("other", of: "plugin", learns: false),
                try task("c", of: "second", learns: true),
            ]
        )
    }

    private static func commands(_ bench: CommandBench) -> UseCommands {
        UseCommands(bench.dispatcher, bench.commits, bench.clock, manifestPath: "tasks.json")
    }

    /// The tasks whose memories a transaction stores.
    private static func stored(_ bench: CommandBench) -> [[String]] {
        bench.store.take().map { commit in
            commit.changes.compactMap {
                if case .remembered(let memory) = $0 { memory.identifier } else { nil }
            }
        }
    }

    @Test func `Uses of a task that does not learn are refused, with what to write`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try Self.manifest())
            let commands = Self.commands(bench)
            for name in ["other", "othre"] {
                for forgets in [false, true] {
                    let refusal = await #expect(throws: OperatorRefusal.self) {
                        _ =
                            try await forgets
                            ? commands.forgetUses(task: name) : commands.use(task: name)
                    }
                    #expect(refusal?.code == (name == "other" ? .notPermitted : .noSuchTask))
                    let hint = name == "other" ? "`\"learnsUse\": true`" : "did you mean"
                    #expect(refusal?.description.contains(hint) == true)
                }
            }
            #expect(await commands.uses(task: "other").isEmpty)
        }
    }

    @Test func `Uses of one half hour are stored once`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try Self.manifest())
            let commands = Self.commands(bench)
            bench.store.answerAtOnce(nil)
            let first = Task {
                _ = actor
                return try await commands.use(task: "a")
            }
            await ReactorActor.wait { bench.store.commits.count == 1 }
            // The second one changes nothing, so it waits for nothing.
            _ = try await commands.use(task: "a")
            #expect(bench.store.commits.count == 1)
            await bench.store.answerAll(.success(()))
            #expect(try await first.value.task == "a")
            bench.wall.pass(seconds: 1800)
            let later = Task {
                _ = actor
                return try await commands.use(task: "a")
            }
            await ReactorActor.wait { bench.store.commits.count == 1 }
            await bench.store.answerAll(.failure(CommandBench.full))
            let refusal = await #expect(throws: OperatorRefusal.self) { _ = try await later.value }
            #expect(refusal?.code == .notStored)
        }
    }

    @Test func `A habit is learned in three days, and forgotten at once`() async throws {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try Self.manifest())
            let commands = Self.commands(bench)
            for days in 0...3 {
                let usual = await commands.uses(task: "a").flatMap(\.usual)
                #expect(usual.map(\.time) == (days < 3 ? [] : ["17:30"]), "after \(days) days")
                _ = try await commands.use(task: "a")
                bench.wall.pass(seconds: Self.day)
            }
            #expect(await commands.uses(task: "a").map(\.days) == [4])
            #expect(await commands.uses(task: "b").flatMap(\.usual).isEmpty)
            #expect(try await commands.forgetUses(task: "a").usual.isEmpty)
            #expect(await commands.uses(task: "a").map(\.days) == [0])
            // Nothing is left to forget, so nothing is stored.
            bench.store.answerAtOnce(nil)
            _ = try await commands.forgetUses(task: "a")
            #expect(bench.store.commits.isEmpty)
        }
    }

    @Test func `An answer to a notification is a use of each learning task of its plugin`()
        async throws
    {
        try await ReactorActor.run { actor in
            let bench = CommandBench(actor.reactor, try Self.manifest())
            let commands = Self.commands(bench)
            for task in ["a", "b", "c"] { try await bench.submit(task, in: 3600) }
            bench.store.answerAtOnce(nil)
            commands.noteUse(ofPlugin: "plugin")
            #expect(Self.stored(bench) == [["a", "b"]])
            // The same half hour, and a plugin that learns nothing.
            commands.noteUse(ofPlugin: "plugin")
            commands.noteUse(ofPlugin: "third")
            #expect(Self.stored(bench).isEmpty)
            #expect(await commands.uses(task: nil).map(\.task) == ["a", "b", "c"])
        }
    }
}
