// SPDX-License-Identifier: Apache-2.0

@testable import BghostAlerts
import BghostBase
import BghostModel
import Testing

private let second: Int64 = 1_000_000_000
private let start: Int64 = 1_790_000_000 * second

/// What is expected of tasks, with a clock that the test moves.
@Suite struct ExpectationWatchTests {
    private let task = "com.example.a"

    private func moment(_ seconds: Int64) -> Moment {
        Moment(
            monotonic: MonotonicInstant(nanoseconds: UInt64(1_000_000 * second + seconds * second)),
            unix: start + seconds * second
        )
    }

    private func run(_ number: UInt64) -> RunID { RunID(high: 1, low: number) }

    private func watch(_ expectation: TaskExpectation) -> ExpectationWatch {
        var watch = ExpectationWatch()
        _ = watch.define([(task, expectation)], now: start)
        return watch
    }

    private func raised(_ findings: [ExpectationWatch.Finding]) -> [AlertKey] {
        findings.compactMap { finding -> AlertKey? in
            if case .raise(let key, _) = finding { key } else { nil }
        }
    }

    private func cleared(_ findings: [ExpectationWatch.Finding]) -> [AlertKey] {
        findings.compactMap { finding -> AlertKey? in
            if case .clear(let key) = finding { key } else { nil }
        }
    }

    @Test func `Failures in a row are counted until a run succeeds`() {
        var watch = watch(TaskExpectation(failures: 3))
        for number in 1...2 {
            let found = watch.ended(run(1), of: task, succeeded: false, "x", now: start)
            #expect(raised(found).isEmpty, "after \(number)")
        }
        // A cancelled run says nothing.
        #expect(raised(watch.ended(run(1), of: task, succeeded: nil, "", now: start)).isEmpty)
        let third = watch.ended(run(1), of: task, succeeded: false, "no route", now: start)
        #expect(
            third == [
                .raise(AlertKey(.failures, task), "3 runs in a row failed; the last: no route")
            ]
        )
        let end = watch.ended(run(1), of: task, succeeded: true, "", now: start)
        #expect(cleared(end).contains(AlertKey(.failures, task)))
    }

    @Test func `No success for so long is found, from the last one or the first look`() {
        var watch = watch(TaskExpectation(every: .seconds(100)))
        #expect(raised(watch.advance(now: moment(99)) { _ in .nothing }).isEmpty)
        _ = watch.ended(run(1), of: task, succeeded: true, "", now: start + 99 * second)
        #expect(raised(watch.advance(now: moment(198)) { _ in .nothing }).isEmpty)
        _ = watch.ended(run(1), of: task, succeeded: false, "", now: start + 150 * second)
        let late = watch.advance(now: moment(199)) { _ in .nothing }
        #expect(raised(late) == [AlertKey(.noSuccess, task)])
        let end = watch.ended(run(1), of: task, succeeded: true, "", now: start + 300 * second)
        #expect(cleared(end).contains(AlertKey(.noSuccess, task)))
        #expect(
            raised(watch.advance(now: moment(400)) { _ in .nothing })
                == [AlertKey(.noSuccess, task)]
        )
    }

    @Test func `What was stored goes on after a restart, and alarms never too early`() {
        var first = watch(TaskExpectation(every: .seconds(1000), failures: 3))
        var rows: [TaskProgress] = []
        for step in 0..<100 {
            _ = first.ended(
                run(1),
                of: task,
                succeeded: true,
                "",
                now: start + Int64(step) * second
            )
        }
        rows = first.takeChanges().compactMap { change -> TaskProgress? in
            if case .progress(let row) = change { row } else { nil }
        }
        #expect(rows.count <= 12, "not each success has a row: \(rows.count)")
        _ = first.ended(run(1), of: task, succeeded: false, "", now: start + 100 * second)
        _ = first.ended(run(1), of: task, succeeded: false, "", now: start + 101 * second)
        let stored = first.takeChanges().last
        guard case .progress(let row) = stored else {
            Issue.record("\(String(describing: stored))")
            return
        }
        #expect(row.failures == 2 && row.lastSuccess == start + 99 * second)

        var next = ExpectationWatch()
        next.recover([row], now: start + 102_000_000_000)
        _ = next.define(
            [(task, TaskExpectation(every: .seconds(1000), failures: 3))],
            now: start
        )
        let third = next.ended(run(1), of: task, succeeded: false, "", now: start)
        #expect(raised(third) == [AlertKey(.failures, task)])
        #expect(raised(next.advance(now: moment(1099)) { _ in .nothing }).isEmpty)
        #expect(
            raised(next.advance(now: moment(1110)) { _ in .nothing })
                == [AlertKey(.noSuccess, task)]
        )
    }

    @Test func `A request that is late alarms until it starts, and waits as it was asked to`() {
        var watch = watch(TaskExpectation(start: .seconds(60)))
        _ = watch.changed(task, of: task) { start }
        #expect(raised(watch.advance(now: moment(59)) { _ in .since(start) }).isEmpty)
        #expect(
            raised(watch.advance(now: moment(60)) { _ in .asAsked }).isEmpty,
            "the manifest asks for a network"
        )
        #expect(raised(watch.advance(now: moment(119)) { _ in .since(start) }).isEmpty)
        let late = watch.advance(now: moment(120)) { _ in .since(start) }
        #expect(raised(late) == [AlertKey(.lateStart, task)])
        let begun = watch.changed(task, of: task) { nil }
        #expect(cleared(begun) == [AlertKey(.lateStart, task)])
        // A withdrawn request is found at the next look.
        _ = watch.changed(task, of: task) { start + 200 * second }
        #expect(
            raised(watch.advance(now: moment(260)) { _ in .since(start + 200 * second) }).count == 1
        )
        #expect(
            cleared(watch.advance(now: moment(320)) { _ in .nothing })
                == [AlertKey(.lateStart, task)]
        )
    }

    @Test func `A family has one alert, and a bounded number of its requests is watched`() {
        let family = "com.example.f.*"
        var watch = ExpectationWatch()
        _ = watch.define([(family, TaskExpectation(start: .seconds(60)))], now: start)
        for number in 0..<1000 {
            _ = watch.changed("com.example.f.\(number)", of: family) { start }
        }
        var asked = 0
        let late = watch.advance(now: moment(60)) { _ in
            asked += 1
            return .since(start)
        }
        #expect(asked == ExpectationWatch.waitingMax)
        #expect(Set(raised(late)) == [AlertKey(.lateStart, family)])
        var ends: [AlertKey] = []
        for number in 0..<1000 {
            ends += cleared(watch.changed("com.example.f.\(number)", of: family) { nil })
        }
        #expect(ends == [AlertKey(.lateStart, family)], "once, when the last one has started")
    }

    @Test func `A long run is measured by the monotonic clock`() {
        var watch = watch(TaskExpectation(runtime: .seconds(10)))
        watch.started(run(1), of: task, now: moment(0))
        // The wall clock was set forward by an hour.
        let jumped = Moment(monotonic: moment(5).monotonic, unix: start + 3605 * second)
        #expect(raised(watch.advance(now: jumped) { _ in .nothing }).isEmpty)
        let later = Moment(monotonic: moment(10).monotonic, unix: start + 3610 * second)
        #expect(
            raised(watch.advance(now: later) { _ in .nothing }) == [AlertKey(.longRun, task)]
        )
        let end = watch.ended(run(1), of: task, succeeded: true, "", now: start)
        #expect(cleared(end).contains(AlertKey(.longRun, task)))
    }

    @Test func `A task that the manifest no longer has is forgotten`() {
        var watch = watch(TaskExpectation(every: .seconds(1), start: .seconds(1), failures: 1))
        _ = watch.takeChanges()
        let found = watch.define([], now: start)
        #expect(Set(cleared(found)).count == 4)
        #expect(watch.takeChanges() == [.unwatched(task: task)])
        #expect(watch.advance(now: moment(1000)) { _ in .since(start) }.isEmpty)
    }

    /// Short runs under a long limit leave no dates behind.
    @Test func `Ended runs take no memory`() {
        var watch = watch(TaskExpectation(runtime: .seconds(86_400)))
        for number in 0..<100_000 {
            watch.started(run(UInt64(number)), of: task, now: moment(0))
            _ = watch.ended(run(UInt64(number)), of: task, succeeded: nil, "", now: start)
        }
        #expect(watch.dateCount < 5000)
    }
}
