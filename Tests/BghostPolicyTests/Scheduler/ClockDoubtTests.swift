// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
@testable import BghostBase
import BghostCalendar
import BghostModel
import BghostPolicy
import Testing

/// Calendars and a clock that may be wrong yet.
@Suite struct ClockDoubtTests {
    private typealias Hand = SchedulerHand
    private let manifest: Manifest

    init() throws {
        var manifest = try Hand.manifest("calendar", "every", "plain")
        manifest.tasks[0].schedule = TaskSchedule(
            times: .calendar(
                try CalendarExpression("* * * * *"),
                zone: .utc,
                gap: .shift,
                fold: .first
            )
        )
        manifest.tasks[1].schedule = TaskSchedule(times: .every(.seconds(60)))
        self.manifest = manifest
    }

    @Test(arguments: [
        (ClockDoubt.oldest - 1, UInt64.max, true as Bool?, ClockDoubt.implausible as ClockDoubt?),
        (0, 0, nil, .implausible), (.min, 0, false, .implausible),
        (ClockDoubt.oldest, ClockDoubt.bootTime - 1, false, .unsynchronised),
        (ClockDoubt.oldest, ClockDoubt.bootTime, false, nil),
        (ClockDoubt.oldest, 0, true, nil), (.max, 0, nil, nil),
    ])
    func `A clock is doubted before a build date, or early after boot`(
        unix: Int64,
        uptime: UInt64,
        isKept: Bool?,
        doubt: ClockDoubt?
    ) {
        #expect(ClockDoubt(unix: unix, uptime: uptime, isSynchronised: isKept) == doubt)
    }

    @Test func `Only calendars wait while the clock is doubted`() throws {
        var hand = Hand(manifest, doubting: .unsynchronised)
        try hand.submit(Submission(task: "plain", earliestBegin: Hand.noon + Hand.second))
        hand.pass(61 * Hand.second)
        #expect(hand.running.sorted() == ["every", "plain"])
        #expect(hand.closed("calendar") == [.clockUnsynced])
        let end = Hand.noon + 600 * Hand.second
        #expect(hand.gate(.clockUnsynced, of: "calendar")?.until == end)
        // Its operator can try it all the same.
        try hand.trigger("calendar")
        #expect(hand.running.sorted() == ["calendar", "every", "plain"])
        try hand.end(after: 0)
        hand.perform { $0.clockChecked(nil, now: $1, &$2) }
        #expect(hand.scheduler.clockDoubt == nil)
        try hand.end(after: 0)
        try hand.end(after: 0)
        #expect(hand.running.contains("calendar"))
    }

    @Test func `Calendars wait for the clock for at most ten minutes`() {
        var hand = Hand(manifest, doubting: .unsynchronised)
        hand.pass(599 * Hand.second)
        hand.perform { $0.clockChecked(.unsynchronised, now: $1, &$2) }
        #expect(hand.closed("calendar") == [.clockUnsynced])
        hand.pass(Hand.second)
        hand.perform { $0.clockChecked(.unsynchronised, now: $1, &$2) }
        #expect(hand.scheduler.clockDoubt == nil)
        #expect(hand.running.contains("calendar"))
    }

    @Test func `Years before the clock was set are not missed starts`() {
        var hand = Hand(manifest, at: 1_000_000 * Hand.second, doubting: .implausible)
        hand.pass(130 * Hand.second)
        #expect(hand.running == ["every"])
        // The daemon looks first, and then says that the clock was set.
        hand.jump(to: Hand.noon)
        hand.perform { $0.clockChecked(nil, now: $1, &$2) }
        hand.perform { $0.clockWasSet(now: $1, &$2) }
        #expect(hand.running == ["every"])
        #expect(hand.notes.allSatisfy { $0.code != "task.missed" })
        #expect(hand.memories["calendar"]?.scheduledSince == Hand.noon)
        hand.pass(60 * Hand.second)
        #expect(hand.running == ["every", "calendar"])
    }

    @Test func `Starts missed since the clock was last right are made up for`() {
        var hand = Hand(manifest)
        hand.pass(60 * Hand.second)
        hand.skip(Hand.hour)
        let right = hand.now.unix
        // A machine without a battery for its clock starts again.
        hand.jump(to: 1_000_000 * Hand.second)
        hand.restart(manifest, doubting: .implausible)
        hand.pass(70 * Hand.second)
        #expect(!hand.running.contains("calendar"))
        hand.jump(to: right)
        hand.perform { $0.clockChecked(nil, now: $1, &$2) }
        #expect(hand.running.contains("calendar"))
        #expect(hand.notes.contains { $0.code == "task.missed" && $0.task == "calendar" })
    }
}
