// SPDX-License-Identifier: Apache-2.0

@testable import BghostAlerts
import BghostBase
import BghostModel
import BghostTestSupport
import Testing

private let second: Int64 = 1_000_000_000
private let hour = 3600 * second
private let start: Int64 = 1_790_000_000 * second

/// What is expected of tasks, and a wall clock that is set in either direction.
@Suite struct ExpectationClockTests {
    private static let task = "com.example.a"

    /// A watch with the clocks of a test.
    private struct World {
        var watch = ExpectationWatch()
        var elapsed: Int64 = 0
        var wall = start
        /// Since when a request waits, as its owner says; `nil` if none does.
        var due: Int64?

        init(_ expectation: TaskExpectation) {
            _ = watch.define([(task, expectation)], now: start)
        }

        var moment: Moment {
            Moment(
                monotonic: MonotonicInstant(nanoseconds: UInt64(1_000_000 * second + elapsed)),
                unix: wall
            )
        }

        mutating func setClock(by step: Int64) -> [AlertKey] {
            wall += step
            watch.followClock(by: step, now: moment)
            return advance()
        }

        mutating func pass(_ time: Int64) -> [AlertKey] {
            elapsed += time
            wall += time
            return advance()
        }

        /// What is raised.
        mutating func advance() -> [AlertKey] {
            let due = due
            return watch.advance(now: moment) { _ in due.map { .since($0) } ?? .nothing }
                .compactMap { if case .raise(let key, _) = $0 { key } else { nil } }
        }

        mutating func succeed() {
            _ = watch.ended(RunID(high: 1, low: 1), of: task, succeeded: true, "", now: wall)
        }

        mutating func submit() {
            let date = wall
            due = date
            _ = watch.changed(task, of: task) { date }
        }

        /// When the watch looks again, from now.
        var nextLook: Int64? { watch.nextDate.map { $0 - wall } }
    }

    @Test(arguments: [10 * hour, -10 * hour, 9600 * hour, -9600 * hour])
    func `A clock step neither hides nor invents a task without success`(step: Int64) {
        var world = World(TaskExpectation(every: .seconds(100)))
        #expect(world.pass(50 * second).isEmpty)
        #expect(world.setClock(by: step).isEmpty)
        world.succeed()
        #expect(world.pass(99 * second).isEmpty)
        #expect(world.setClock(by: -step).isEmpty)
        #expect(world.pass(2 * second) == [AlertKey(.noSuccess, Self.task)])
    }

    @Test func `What is stored follows the clock`() throws {
        var world = World(TaskExpectation(every: .seconds(100)))
        _ = world.setClock(by: 10 * hour)
        world.succeed()
        _ = world.watch.takeChanges()
        _ = world.pass(5 * second)
        _ = world.setClock(by: -10 * hour)
        guard case .progress(let row)? = world.watch.takeChanges().last else {
            Issue.record("nothing is stored")
            return
        }
        #expect(row.lastSuccess == world.wall - 5 * second)
    }

    @Test(arguments: [10 * hour, -10 * hour])
    func `A request that waits for a slot is late by the time that it waits`(step: Int64) {
        var world = World(TaskExpectation(start: .seconds(60)))
        world.submit()
        #expect(world.pass(30 * second).isEmpty)
        #expect(world.setClock(by: step).isEmpty)
        #expect(world.pass(29 * second).isEmpty)
        #expect(world.pass(31 * second) == [AlertKey(.lateStart, Self.task)])
    }

    /// Its owner has no date that lies ahead, so the clock was ahead when it was submitted.
    @Test func `A request from a clock that was ahead is late in time`() {
        var world = World(TaskExpectation(start: .seconds(60)))
        world.submit()
        world.due = world.wall + 10 * hour
        #expect(world.pass(60 * second).isEmpty)
        #expect(world.pass(60 * second) == [AlertKey(.lateStart, Self.task)])
    }

    @Test(arguments: [10 * hour, -10 * hour])
    func `A long run is found in time`(step: Int64) {
        var world = World(TaskExpectation(runtime: .seconds(10)))
        world.watch.started(RunID(high: 1, low: 1), of: Self.task, now: world.moment)
        #expect(world.pass(5 * second).isEmpty)
        #expect(world.setClock(by: step).isEmpty)
        #expect(world.nextLook == 5 * second)
        #expect(world.pass(5 * second) == [AlertKey(.longRun, Self.task)])
    }

    /// After any sequence of steps, the alert comes when the time without success is over, and not before.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(24))
    func `The alert comes in time however the clock is set`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let every = Int64.random(in: 2...7200, using: &random)
        var world = World(TaskExpectation(every: .seconds(every)))
        var last: Int64 = 0
        var isFiring = false
        for _ in 0..<500 {
            var raised: [AlertKey]
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                raised = world.setClock(by: Int64.random(in: -24...24, using: &random) * hour)
            case 1:
                raised = world.setClock(by: Int64.random(in: -9600...9600, using: &random) * hour)
            case 2:
                world.succeed()
                (raised, last, isFiring) = ([], world.elapsed, false)
            default:
                raised = world.pass(Int64.random(in: 0...(every * second / 2), using: &random))
            }
            if raised.contains(AlertKey(.noSuccess, Self.task)) { isFiring = true }
            #expect(isFiring == (world.elapsed - last >= every * second))
            raised = []
        }
        #expect(world.watch.dateCount < 700)
    }
}
