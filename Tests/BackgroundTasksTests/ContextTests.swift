// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ContextTests {
    struct Settings: Decodable {
        var codes: [Int]

        enum CodingKeys: String, CodingKey { case codes = "storm codes" }
    }

    @Test func `The context has the values of the run`() async throws {
        let seen = Signal<TaskContext>()
        let plugin = try TestPlugin { Handler("a") { seen.send($0) } }
        _ = try await plugin.end(
            .init(parameters: #"{"a":1}"#, attempt: 3, directory: "/var/lib/x y")
        )
        let context = await seen.value
        #expect(context.taskIdentifier == "com.example.test")
        #expect(context.attempt == 3)
        #expect(context.dataDirectory.path == "/var/lib/x y")
        #expect(context.grace == .seconds(5))
        #expect(context.isInWorker)
        #expect(context.rawParameters == #"{"a":1}"#)
        #expect(context.stopReason == nil)
    }

    @Test func `Remaining time counts down on the monotonic clock and stops at zero`() async throws
    {
        let plugin = try TestPlugin {
            Handler("a") { context in
                let first = context.remainingTime
                await Task.yield()
                let isAnHour = first > .seconds(3000) && first <= .seconds(3600)
                return [isAnHour, context.remainingTime < first]
            }
            Handler("b") { context in context.remainingTime == .zero }
        }
        let hour = TestRun.Setting(runtimeNanoseconds: 3_600_000_000_000)
        #expect(try await plugin.end(hour).payload == "[true,true]")
        let late = try plugin.run(1, .init(runtimeNanoseconds: -1))
        #expect(late.start() == BG_PENDING)
        #expect(await late.ended.value.payload == "true")
        late.release()
    }

    @Test func `The context is the current one in the handler and its children`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                async let child = TaskContext.current === context
                let detached = await Task.detached { TaskContext.current == nil }.value
                return [TaskContext.current === context, await child, detached]
            }
        }
        #expect(try await plugin.end().payload == "[true,true,true]")
        #expect(TaskContext.current == nil)
    }

    @Test func `Progress reaches the host`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                context.progress(1, of: 3, "fetch")
                context.progress(2)
                context.progress(-1, of: -1)
            }
        }
        _ = try await plugin.end()
        let expected = [
            ScriptedHost.Progress(done: 1, total: 3, phase: "fetch"),
            ScriptedHost.Progress(done: 2, total: 0, phase: ""),
            ScriptedHost.Progress(done: 0, total: 0, phase: ""),
        ]
        #expect(plugin.host.state.withLock { $0.progress } == expected)
    }

    @Test func `Log lines reach the host with their run, as they are`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                context.log(.info, "100 %s ✓\u{0}")
                Logger().warning("w")
                context.logger.error("e")
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_OK)
        _ = await run.ended.value
        run.release()
        let expected = [
            ScriptedHost.Log(run: run.number, level: 2, message: "100 %s ✓\u{0}"),
            ScriptedHost.Log(run: run.number, level: 3, message: "w"),
            ScriptedHost.Log(run: run.number, level: 4, message: "e"),
        ]
        #expect(plugin.host.logs == expected)
    }

    @Test(arguments: [
        (#"{"storm codes":[95,99]}"#, Ending(status: BG_OK, payload: "[95,99]")),
        ("{}", Ending(status: BG_E_FAILED, message: "config: `storm codes` is missing")),
    ])
    func `Settings decode like parameters`(config: String, expected: Ending) async throws {
        let plugin = try TestPlugin(config: config) {
            Handler("a") { context in try context.configuration(as: Settings.self).codes }
        }
        #expect(try await plugin.end() == expected)
    }

    @Test func `A host without checkpoints says so`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                var codes: [CheckpointError.Code] = []
                do { try await context.checkpoint(1) } catch let error as CheckpointError {
                    codes.append(error.code)
                }
                do { _ = try await context.savedCheckpoint(as: Int.self) } catch let error
                    as CheckpointError
                {
                    codes.append(error.code)
                }
                return codes == [.unavailable, .unavailable]
            }
        }
        #expect(try await plugin.end().payload == "true")
    }
}
