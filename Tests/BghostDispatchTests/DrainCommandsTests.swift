// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import Testing

/// The owner of the drain, without a daemon and without a process.
@Suite(.timeLimit(.minutes(5))) struct DrainCommandsTests {
    private final class Runs {
        var count = 2
    }

    private struct Subject {
        let bench: CommandBench
        let runs = Runs()
        let drain: DrainCommands

        init(_ reactor: Reactor) {
            let (bench, runs) = (CommandBench(reactor), runs)
            self.bench = bench
            drain = DrainCommands(
                bench.dispatcher,
                bench.deadlines,
                bench.clock,
                log: bench.log,
                runCount: { runs.count }
            )
            bench.deadlines.begin { [drain] token, deadline in
                token == .drain && drain.isLive(deadline)
            }
        }

        /// Lets so many seconds pass from now.
        func pass(seconds: UInt64) {
            bench.deadlines.handleDue(now: bench.clock.monotonic + seconds * 1_000_000_000) { _ in
                drain.deadlinePassed()
            }
        }

        /// Whether the daemon may stop; it has waited for nothing else.
        nonisolated(nonsending) func hasEnded() async -> Bool {
            var elements = drain.ended.makeAsyncIterator()
            return await elements.next() != nil
        }
    }

    @Test func `The daemon may stop when the last run has ended`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            let status = subject.drain.drain(within: nil)
            #expect(status == DrainStatus(draining: true, finishing: true, running: 2))
            #expect(subject.bench.dispatcher.scheduler.isDraining)
            #expect(subject.bench.deadlines.count == 0)
            let waiter = Task {
                _ = actor
                return await subject.drain.waitUntilEnd()
            }
            subject.runs.count = 1
            subject.drain.check()
            #expect(subject.drain.status.finishing)
            await Task.yield()
            subject.runs.count = 0
            subject.drain.check()
            let last = DrainStatus(draining: true)
            #expect(await waiter.value == last && subject.drain.status == last)
            #expect(await subject.hasEnded())
        }
    }

    @Test func `A second drain can only shorten the time of the first`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            func rest() -> Int64? { subject.drain.status.until.map { $0 - CommandBench.start } }
            // The reactor's clock goes on between the calls.
            let second = CommandBench.second
            _ = subject.drain.drain(within: .seconds(3600))
            let long = try #require(rest())
            #expect(long <= 3600 * second && long > 1800 * second)
            _ = subject.drain.drain(within: .seconds(7200))
            _ = subject.drain.drain(within: nil)
            #expect(try #require(rest()) <= long)
            _ = subject.drain.drain(within: .seconds(600))
            #expect(try #require(rest()) <= 600 * second)
            subject.pass(seconds: 600)
            let end = subject.drain.status
            #expect(!end.finishing && end.cancelled == 2 && end.until == nil)
            #expect(await subject.hasEnded())
            // The deadline of the first drain is not live any more.
            subject.runs.count = 1
            subject.pass(seconds: 3600)
            #expect(subject.drain.status.cancelled == 2)
        }
    }

    @Test func `Runs that are left at the bound are counted as cancelled`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            _ = subject.drain.drain(within: .seconds(3600))
            let waiter = Task {
                _ = actor
                return await subject.drain.waitUntilEnd()
            }
            await Task.yield()
            subject.runs.count = 1
            subject.drain.check()
            subject.pass(seconds: 3600)
            #expect(await waiter.value.cancelled == 1)
            #expect(await subject.hasEnded())
        }
    }

    @Test func `With no time or no runs the daemon may stop at once`() async throws {
        try await ReactorActor.run { actor in
            let none = Subject(actor.reactor)
            none.runs.count = 0
            #expect(none.drain.drain(within: nil) == DrainStatus(draining: true))
            #expect(await none.hasEnded())
            let zero = Subject(actor.reactor)
            #expect(zero.drain.drain(within: .zero).cancelled == 2)
            #expect(await zero.hasEnded())
            #expect(await zero.drain.waitUntilEnd() == zero.drain.status)
        }
    }

    @Test func `A daemon that stops already gives its runs no time`() async throws {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.bench.dispatcher.decide { scheduler, now, _ in scheduler.drain(now: now) }
            let status = subject.drain.drain(within: .seconds(3600))
            #expect(status == DrainStatus(draining: true, running: 2))
            #expect(subject.bench.deadlines.count == 0 && subject.bench.events.isEmpty)
        }
    }

    @Test func `Without a drain a wait ends at once, and the end of a run means nothing`()
        async throws
    {
        try await ReactorActor.run { actor in
            let subject = Subject(actor.reactor)
            subject.runs.count = 0
            subject.drain.check()
            subject.drain.end()
            #expect(await subject.drain.waitUntilEnd() == DrainStatus())
            #expect(!subject.bench.dispatcher.scheduler.isDraining)
        }
    }
}
