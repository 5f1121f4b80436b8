// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ClockTests {
    private static let extensions: Set = [BG_EXT_SCHEDULE, BG_EXT_FETCH, BG_EXT_CLOCK]

    private static func host(_ answer: bg_status = BG_OK) -> ScriptedHost {
        let host = ScriptedHost(extensions: extensions)
        host.state.withLock {
            $0.time = (1_700_000_000_250_000_000, 5_000_000_000)
            $0.sleepAnswer = answer
        }
        return host
    }

    @Test func `The SDK uses the host's clock if the host has one`() async throws {
        let plugin = try TestPlugin(on: Self.host()) {
            Handler("a") { context in
                let since = SuspendingClock().systemEpoch.duration(to: context.clock.now)
                return [context.now.timeIntervalSince1970, since / .seconds(1)]
            }
        }
        #expect(try await plugin.end().payload == "[1700000000.25,5]")
    }

    @Test func `Without a clock of the host the time is the machine's`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                let before = SuspendingClock.now
                try await context.sleep(for: .milliseconds(1))
                try await context.clock.sleep(until: before)
                let isNow = abs(context.now.timeIntervalSinceNow) < 3600
                return [before.duration(to: context.clock.now) >= .milliseconds(1), isNow]
            }
        }
        #expect(try await plugin.end().payload == "[true,true]")
    }

    @Test func `Remaining time is measured on the host's clock`() async throws {
        let host = Self.host()
        let plugin = try TestPlugin(on: host) { Handler("a") { $0.remainingTime > .seconds(1) } }
        #expect(try await plugin.end().payload == "true")
        host.state.withLock { $0.time.monotonic = .max }
        #expect(try await plugin.end().payload == "false")
    }

    @Test func `A sleep ends when the host ends it`() async throws {
        let host = Self.host()
        let plugin = try TestPlugin(on: host) {
            Handler("a") { context in
                try await context.sleep(for: .milliseconds(1500))
                return "awake"
            }
        }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        let sleep = await host.sleepBegan.value
        #expect(sleep.run == run.number)
        #expect(sleep.until == 6_500_000_000)
        #expect(run.ended.now == nil)
        sleep.end()
        #expect(await run.ended.value.payload == #""awake""#)
        run.release()
    }

    @Test func `Cancelling the task wakes a sleep up`() async throws {
        let host = Self.host()
        let plugin = try TestPlugin(on: host) {
            Handler("a") { try await $0.sleep(for: .seconds(1)) }
        }
        let run = try plugin.run()
        run.start()
        let sleep = await host.sleepBegan.value
        run.cancel()
        #expect(await host.woken.value == sleep.number)
        #expect(run.ended.now == nil)
        sleep.end(BG_E_CANCELLED)
        #expect(await run.ended.value == Ending(status: BG_E_CANCELLED))
        run.release()
    }

    @Test func `A sleep that the host refuses throws`() async throws {
        let plugin = try TestPlugin(on: Self.host(BG_E_STALE)) {
            Handler("a") { context in
                do {
                    try await context.sleep(for: .seconds(1))
                    return "slept"
                } catch is CancellationError {
                    return "cancelled"
                }
            }
        }
        #expect(try await plugin.end().payload == #""cancelled""#)
    }

    @Test(
        arguments: [
            (.seconds(2), 7_000_000_000), (.nanoseconds(1), 5_000_000_001),
            (.seconds(Int64.max / 4), .max), (.seconds(-1), 4_000_000_000),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), 5_000_000_001),
        ] as [(Duration, Int64)]
    )
    func `Sleeps are rounded up to nanoseconds, within what the ABI can say`(
        duration: Duration,
        until: Int64
    ) async throws {
        let host = Self.host()
        let plugin = try TestPlugin(on: host) { Handler("a") { try await $0.sleep(for: duration) } }
        let run = try plugin.run()
        run.start()
        let sleep = await host.sleepBegan.value
        #expect(sleep.until == until)
        sleep.end()
        #expect(await run.ended.value == Ending(status: BG_OK))
        run.release()
    }

    @Test func `Retry-After as a date counts from the host's time`() async throws {
        let plugin = try TestPlugin(on: Self.host()) {
            Handler("a") { _ in
                FetchResponse(
                    status: 503,
                    headers: [("retry-after", "Tue, 14 Nov 2023 22:13:30 GMT")]
                ).retryAfter.map { $0 / .seconds(1) }
            }
        }
        #expect(try await plugin.end().payload == "9.75")
    }
}
