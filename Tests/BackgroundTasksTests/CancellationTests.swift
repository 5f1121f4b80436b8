// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BghostTestSupport
import CBghost
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct CancellationTests {
    @Test func `Cancel ends a sleep and the run is cancelled`() async throws {
        let begun = Signal<Void>()
        let plugin = try TestPlugin {
            Handler("a") { _ in
                begun.send()
                try await untilCancelled()
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        await begun.value
        run.cancel()
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        run.release()
    }

    @Test(
        arguments: [
            (BG_WHY_EXPIRED, "expired"), (BG_WHY_USER, "user"), (BG_WHY_DRAIN, "drain"),
            (BG_WHY_CONDITION, "condition"), (BG_WHY_QUOTA, "quota"), (4_000_000_000, "other"),
        ] as [(UInt32, String)]
    )
    func `Cancellation handlers run within cancel and know the reason`(
        why: UInt32,
        reason: String
    ) async throws {
        let begun = Signal<Void>()
        let told = Signal<String>()
        let plugin = try TestPlugin {
            Handler("a") { context in
                await withTaskCancellationHandler {
                    begun.send()
                    _ = await told.value
                } onCancel: {
                    told.send(context.stopReason.map { "\($0)" } ?? "none")
                }
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        await begun.value
        run.cancel(why)
        #expect(told.now == reason)
        // It ended well all the same, which it may.
        #expect(await run.ended.value == Ending(status: BG_OK))
        run.release()
    }

    @Test func `A loop that never suspends sees that it is cancelled`() async throws {
        let begun = Signal<Void>()
        let plugin = try TestPlugin {
            Handler("a") { _ in
                begun.send()
                while !Task.isCancelled {}
                try Task.checkCancellation()
            }
        }
        let run = try plugin.run()
        // The loop has the thread that calls start().
        async let status = run.start()
        await begun.value
        run.cancel()
        #expect(await status == BG_E_CANCELLED)
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        run.release()
    }

    @Test(arguments: [true, false])
    func `A cancel right after start reaches the handler`(suspends: Bool) async throws {
        let plugin = try TestPlugin {
            Handler("a") { _ in
                if suspends { await Task.yield() }
                try await untilCancelled()
            }
        }
        for _ in 0..<200 {
            let run = try plugin.run()
            #expect(run.start() == BG_PENDING)
            run.cancel()
            #expect(await run.ended.value.status == BG_E_CANCELLED)
            run.release()
        }
    }

    @Test func `A cancel that overlaps start, or comes just before it, reaches the handler`()
        async throws
    {
        let plugin = try TestPlugin { Handler("a") { _ in while !Task.isCancelled {} } }
        for _ in 0..<200 {
            let run = try plugin.run()
            async let status = run.start()
            run.cancel()
            #expect(await status == BG_OK)
            run.release()
        }
    }

    @Test func `A handler that starts after the cancel is cancelled from the start`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                #expect(context.stopReason == .user)
                try Task.checkCancellation()
            }
        }
        let run = try plugin.run()
        run.cancel(UInt32(BG_WHY_USER))
        #expect(run.start() == BG_E_CANCELLED)
        run.release()
    }

    @Test func `A CancellationError without a cancellation is a failure`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in throw CancellationError() } }
        let ending = try await plugin.end()
        #expect(ending.status == BG_E_FAILED)
        #expect(ending.message.contains("without having been asked"))
    }

    @Test func `Child tasks are cancelled too`() async throws {
        let begun = Signal<Void>()
        let plugin = try TestPlugin {
            Handler("a") { _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await untilCancelled() } }
                    begun.send()
                    try await group.waitForAll()
                }
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        await begun.value
        run.cancel()
        #expect(await run.ended.value.status == BG_E_CANCELLED)
        run.release()
    }
}
