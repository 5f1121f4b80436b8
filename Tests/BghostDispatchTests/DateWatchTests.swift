// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import Testing

/// The owner of the dates, without a daemon and without a process.
@Suite struct DateWatchTests {
    private static let second: Int64 = 1_000_000_000
    private static let minute = 60 * second

    /// The machine's clocks, set by the test, and what the owner calls.
    private final class Machine {
        var wall: Int64 = 1_900_000_000 * second
        var doubt: ClockDoubt?
        var otherDate: Int64?
        var calls: [String] = []
    }

    private struct Parts {
        let machine = Machine()
        let reactor: Reactor
        let clock: DaemonClock
        let deadlines: Deadlines
        let dispatcher: Dispatcher
        let dates: DateWatch
        let log = HostLog()

        init() throws {
            let machine = machine
            reactor = try Reactor()
            clock = DaemonClock(reactor, machineWall: { machine.wall }, machineSlept: { 0 })
            deadlines = Deadlines(reactor)
            let clock = clock
            dispatcher = Dispatcher(
                SampleManifest.settings(),
                moment: { clock.moment },
                recorder: nil
            )
            dates = DateWatch(clock, deadlines, dispatcher, log: log) { _ in machine.doubt }
            dispatcher.decide { scheduler, now, _ in scheduler.setIncarnation(1, now: now) }
            dates.begin {
                machine.otherDate
            } onDates: {
                machine.calls.append("dates")
            } onClockSet: {
                machine.calls.append("clock")
            }
        }

        /// Submits a request that starts at a date, and stores it.
        func submit(at date: Int64) throws {
            let accepted = try dispatcher.decide { scheduler, now, _ throws(SubmitError) in
                try scheduler.accept(Submission(task: "backup", earliestBegin: date), now: now)
            }
            let made = try #require(accepted)
            dispatcher.decide { scheduler, now, effects in
                scheduler.finishSubmission(made, isStored: true, now: now, &effects)
            }
        }

        /// How long the reactor waits, nanoseconds.
        var wait: Int64 { Int64(clamping: reactor.deadline.since(clock.monotonic)) }
    }

    @Test func `The watch arms the earliest date of the scheduler and other owners`() throws {
        let parts = try Parts()
        parts.dates.arm()
        #expect(parts.reactor.deadline == .never)
        try parts.submit(at: parts.machine.wall + 10 * Self.minute)
        parts.dates.arm()
        #expect(parts.wait == 10 * Self.minute)
        parts.machine.otherDate = parts.machine.wall + Self.minute
        parts.dates.arm()
        #expect(parts.wait == Self.minute)
        #expect(parts.dates.isLive(.dates, parts.reactor.deadline))
        #expect(!parts.dates.isLive(.dates, parts.reactor.deadline + 1))
    }

    @Test func `The watch arms a date once, and again after it has fired`() throws {
        let parts = try Parts()
        parts.machine.otherDate = parts.machine.wall + Self.minute
        for _ in 0..<3 { parts.dates.arm() }
        #expect(parts.deadlines.count == 1)
        parts.dates.timerFired()
        #expect(parts.machine.calls == ["dates"])
        parts.dates.arm()
        #expect(parts.deadlines.count == 2)
    }

    @Test func `After a clock step the watch compares and arms dates again`() throws {
        let parts = try Parts()
        try parts.submit(at: parts.machine.wall + 10 * Self.minute)
        parts.dates.arm()
        // The clock was set back: the same date is further away.
        parts.machine.wall -= 5 * Self.minute
        parts.dates.clockWasSet()
        #expect(parts.machine.calls == ["dates", "clock"])
        parts.dates.arm()
        #expect(parts.dates.isLive(.dates, parts.clock.monotonic + UInt64(15 * Self.minute)))
    }

    @Test func `The log says how far the clock was set, and in which direction`() throws {
        let parts = try Parts()
        for _ in 0..<2 {
            // The monotonic clock goes on meanwhile, so the log says a little less.
            parts.machine.wall += 10 * 60 * Self.minute
            parts.dates.clockWasSet()
        }
        parts.machine.wall -= 60 * Self.minute
        parts.dates.clockWasSet()
        let said = parts.log.entries(matching: LogFilter(), limit: 10).filter {
            $0.event == "clock.set"
        }
        #expect(said.map(\.level) == [.warning, .warning, .warning])
        #expect(said.first?.message.contains("was set forward by ") == true)
        #expect(said.last?.message.contains("was set back by ") == true)
    }

    @Test func `A doubted clock is checked again until it is right`() throws {
        let parts = try Parts()
        parts.machine.doubt = .unsynchronised
        parts.dates.checkClock()
        #expect(parts.dispatcher.scheduler.clockDoubt == .unsynchronised)
        #expect(parts.wait > 0 && parts.wait <= 5 * Self.second)
        #expect(parts.dates.isLive(.clock, parts.reactor.deadline))
        parts.machine.doubt = nil
        parts.dates.checkClock()
        #expect(parts.dispatcher.scheduler.clockDoubt == nil)
        let events = parts.log.entries(matching: LogFilter(), limit: 10).map(\.event)
        #expect(events == ["clock.doubted", "clock.believed"])
    }

    /// Machines that have just started, as in CI, doubt their own clock for ten minutes.
    @Test func `A simulated clock is not doubted because the machine has just started`() throws {
        let parts = try Parts()
        parts.machine.doubt = .unsynchronised
        parts.dates.checkClock()
        try parts.clock.move(to: .by(Self.minute))
        parts.dates.compareAllDates()
        #expect(parts.dispatcher.scheduler.clockDoubt == nil)
    }

    @Test func `A simulated clock before bghost was built is doubted`() throws {
        let parts = try Parts()
        try parts.clock.move(to: .to(0))
        parts.dates.checkClock()
        #expect(parts.dispatcher.scheduler.clockDoubt == .implausible)
    }
}
