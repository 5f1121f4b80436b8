// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// The pattern learned from the times at which a task's results are used.
struct UsePatternTests {
    private typealias Hand = SchedulerHand

    /// Midnight in UTC of some day.
    private static let midnight = Hand.noon - 12 * Hand.hour

    /// Uses at the same hours of each of so many days before today.
    private func pattern(days: Int64, hours: Double...) -> UsePattern {
        var pattern = UsePattern()
        for day in stride(from: -days, to: 0, by: 1) {
            for hour in hours {
                pattern.add(
                    now: Self.midnight + day * Hand.day + Int64(hour * Double(Hand.hour))
                )
            }
        }
        return pattern
    }

    private func times(_ pattern: UsePattern, now: Int64 = midnight) -> [String] {
        UseStatus(task: "a", pattern.habit(now: now)).usual.map { "\($0.time) \($0.days)" }
    }

    @Test func `No use is usual before the third day`() {
        #expect(times(pattern(days: 2, hours: 8)) == [])
        #expect(times(pattern(days: 3, hours: 8)) == ["08:00 3"])
        #expect(times(UsePattern()) == [])
        // Today is not over: what was used in it does not count yet.
        #expect(times(pattern(days: 3, hours: 8), now: Self.midnight - 1) == [])
    }

    @Test func `A use on half of all days is usual`() {
        var pattern = UsePattern()
        for day: Int64 in [-6, -4, -1] { pattern.add(now: Self.midnight + day * Hand.day) }
        #expect(times(pattern) == ["00:00 3"])
        pattern = UsePattern()
        for day: Int64 in [-7, -4, -1] { pattern.add(now: Self.midnight + day * Hand.day) }
        #expect(times(pattern) == [])
    }

    @Test func `Half hours in a row are one use, also over midnight`() {
        #expect(times(pattern(days: 4, hours: 8, 8.5, 9.2, 17.9)) == ["08:00 4", "17:30 4"])
        #expect(times(pattern(days: 4, hours: 23.5, 0, 0.5)) == ["23:30 4"])
        let always = (0..<48).map { Double($0) / 2 }
        var pattern = UsePattern()
        for day: Int64 in -4..<0 {
            for hour in always {
                pattern.add(now: Self.midnight + day * Hand.day + Int64(hour * Double(Hand.hour)))
            }
        }
        #expect(times(pattern) == [])
        #expect(pattern.habit(now: Self.midnight).start(notBefore: 1, tolerance: .max) == nil)
    }

    @Test func `Uses older than two weeks are forgotten`() {
        var pattern = pattern(days: 14, hours: 8)
        #expect(times(pattern) == ["08:00 14"])
        let later = Self.midnight + 30 * Hand.day
        #expect(times(pattern, now: later) == [])
        pattern.add(now: later)
        #expect(pattern.text.split(separator: " ").count == 1)
    }

    @Test func `A use in the future is dropped, because a wrong clock recorded it`() {
        var pattern = pattern(days: 3, hours: 8)
        pattern.add(now: Self.midnight + 4000 * Hand.day)
        #expect(times(pattern) == [])
        pattern.add(now: Self.midnight - Hand.day)
        #expect(pattern.text.split(separator: " ").count == 1)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `The pattern accepts every time`(time: Int64) throws {
        var pattern = UsePattern()
        pattern.add(now: time)
        #expect(UsePattern(text: pattern.text) == pattern)
        #expect(pattern.habit(now: time).start(notBefore: time, tolerance: .max) == nil)
    }

    @Test(
        arguments: [
            // From, tolerance, aim: hours after midnight; the use is at 8 and at 17:30.
            (0.0, 24.0, 7.5), (7.0, 0.25, nil), (7.0, 0.5, 7.5), (7.6, 1.0, 7.6), (8.1, 4.0, 8.1),
            (8.5, 24.0, 17.0), (18.0, 24.0, 31.5), (18.0, 13.4, nil), (0.0, 0.0, nil),
        ] as [(Double, Double, Double?)]
    )
    func `A window is entered in time for the next use`(
        earliest: Double,
        tolerance: Double,
        aim: Double?
    ) throws {
        func hours(_ count: Double) -> Int64 { Int64((count * 3600).rounded()) * Hand.second }
        let habit = pattern(days: 5, hours: 8, 17.5).habit(now: Self.midnight)
        let moment = habit.start(
            notBefore: Self.midnight + hours(earliest),
            tolerance: hours(tolerance)
        )
        #expect(moment == aim.map { Self.midnight + hours($0) })
    }

    @Test(arguments: SeededGenerator.seeds(4))
    func `The chosen time lies in its window, and the text form reads back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var pattern = UsePattern()
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                pattern.add(
                    now: Self.midnight
                        + Int64.random(in: -20 * Hand.day...2 * Hand.day, using: &random)
                )
            }
            #expect(UsePattern(text: pattern.text) == pattern)
            let earliest = Self.midnight + Int64.random(in: 0...3 * Hand.day, using: &random)
            let tolerance = Int64(1) << Int64.random(in: 0...51, using: &random)
            let habit = pattern.habit(now: Self.midnight)
            guard let aim = habit.start(notBefore: earliest, tolerance: tolerance) else { continue }
            #expect(aim >= earliest && aim - earliest <= tolerance)
        }
    }

    @Test(arguments: [
        "1", "1:", ":1", "1:0", "1:g", "1:1:1", "1:1 1:1", "2:1 1:1", " ", "1:1 ",
        "1:1000000000000", "-:1", "99999999999999999999:1",
    ])
    func `Invalid text is refused`(text: String) {
        #expect(UsePattern(text: text) == nil)
    }
}
