// SPDX-License-Identifier: Apache-2.0

@testable import BghostAlerts
import BghostBase
import BghostModel
import Testing

private let second: Int64 = 1_000_000_000
private let start: Int64 = 1_790_000_000 * second

/// What a manifest expects instead of an earlier one, with a clock that the test moves.
@Suite struct ExpectationReloadTests {
    private let task = "com.example.a"

    private func moment(_ seconds: Int64) -> Moment {
        Moment(
            monotonic: MonotonicInstant(nanoseconds: UInt64(1_000_000 * second + seconds * second)),
            unix: start + seconds * second
        )
    }

    private func run(_ number: UInt64) -> RunID { RunID(high: 1, low: number) }

    private func raised(_ findings: [ExpectationWatch.Finding]) -> [AlertKey] {
        findings.compactMap { if case .raise(let key, _) = $0 { key } else { nil } }
    }

    private func cleared(_ findings: [ExpectationWatch.Finding]) -> [AlertKey] {
        findings.compactMap { if case .clear(let key) = $0 { key } else { nil } }
    }

    private func define(
        _ watch: inout ExpectationWatch,
        _ expectation: TaskExpectation,
        at seconds: Int64
    ) -> [ExpectationWatch.Finding] {
        watch.define([(task, expectation)], now: start + seconds * second)
    }

    private func advance(
        _ watch: inout ExpectationWatch,
        to seconds: Int64,
        _ waiting: ExpectationWatch.Waiting = .nothing
    ) -> [ExpectationWatch.Finding] {
        watch.advance(now: moment(seconds)) { _ in waiting }
    }

    @Test func `A longer time without success ends the alert, until that time has passed too`() {
        var watch = ExpectationWatch()
        _ = define(&watch, TaskExpectation(every: .seconds(10)), at: 0)
        #expect(raised(advance(&watch, to: 10)) == [AlertKey(.noSuccess, task)])
        let same = define(&watch, TaskExpectation(every: .seconds(10)), at: 11)
        #expect(!cleared(same).contains(AlertKey(.noSuccess, task)))
        let longer = define(&watch, TaskExpectation(every: .seconds(100)), at: 12)
        #expect(cleared(longer).contains(AlertKey(.noSuccess, task)))
        #expect(raised(advance(&watch, to: 99)).isEmpty)
        #expect(raised(advance(&watch, to: 100)) == [AlertKey(.noSuccess, task)])
    }

    @Test func `A restart goes on with a task that is overdue, unless more time is expected`() {
        let row = TaskProgress(task: task, since: start, lastSuccess: start)
        for (every, isOverdue) in [(100, true), (200, false)] as [(Int64, Bool)] {
            var watch = ExpectationWatch()
            watch.recover([row], overdue: [task], now: start + 100 * second)
            let found = define(&watch, TaskExpectation(every: .seconds(every)), at: 100)
            #expect(cleared(found).contains(AlertKey(.noSuccess, task)) == !isOverdue)
            let due = raised(advance(&watch, to: 100))
            #expect(due == (isOverdue ? [AlertKey(.noSuccess, task)] : []))
        }
    }

    @Test func `A run is measured by the time that a reload expects of it`() {
        var watch = ExpectationWatch()
        let long = AlertKey(.longRun, task)
        _ = define(&watch, TaskExpectation(failures: 3), at: 0)
        watch.started(run(1), of: task, now: moment(0))
        #expect(raised(advance(&watch, to: 50)).isEmpty)
        _ = define(&watch, TaskExpectation(runtime: .seconds(60)), at: 50)
        #expect(raised(advance(&watch, to: 50)).isEmpty)
        #expect(raised(advance(&watch, to: 60)) == [long], "it began before the reload")
        let longer = define(&watch, TaskExpectation(runtime: .seconds(100)), at: 70)
        #expect(!cleared(longer).contains(long), "the next look says that")
        #expect(cleared(advance(&watch, to: 70)) == [long])
        #expect(raised(advance(&watch, to: 100)) == [long])
        let shorter = define(&watch, TaskExpectation(runtime: .seconds(10)), at: 101)
        let again = advance(&watch, to: 101)
        #expect(!cleared(shorter + again).contains(long) && raised(again) == [long])
        let none = define(&watch, TaskExpectation(failures: 3), at: 102)
        #expect(cleared(none).contains(long))
        #expect(advance(&watch, to: 10_000).isEmpty)
    }

    @Test func `The end of a run ends its alert, whatever task its identifier belongs to by then`()
    {
        var watch = ExpectationWatch()
        let (family, member) = ("com.example.*", "com.example.a")
        let expectation = TaskExpectation(runtime: .seconds(10))
        _ = watch.define([(family, expectation)], now: start)
        watch.started(run(1), of: family, now: moment(0))
        #expect(raised(advance(&watch, to: 10)) == [AlertKey(.longRun, family)])
        _ = watch.define([(family, expectation), (member, expectation)], now: start + 11 * second)
        let end = watch.ended(run(1), of: member, succeeded: true, "", now: start + 12 * second)
        #expect(cleared(end).contains(AlertKey(.longRun, family)))
    }

    @Test func `A request that may wait for longer is not late any more`() {
        var watch = ExpectationWatch()
        let late = AlertKey(.lateStart, task)
        _ = define(&watch, TaskExpectation(start: .seconds(60)), at: 0)
        _ = watch.changed(task, of: task) { start }
        #expect(raised(advance(&watch, to: 60, .since(start))) == [late])
        _ = define(&watch, TaskExpectation(start: .seconds(600)), at: 70)
        #expect(cleared(advance(&watch, to: 70, .since(start))) == [late])
        #expect(raised(advance(&watch, to: 599, .since(start))).isEmpty)
        #expect(raised(advance(&watch, to: 600, .since(start))) == [late])
        _ = define(&watch, TaskExpectation(start: .seconds(60)), at: 601)
        let shorter = advance(&watch, to: 601, .since(start))
        #expect(raised(shorter) == [late] && cleared(shorter).isEmpty)
    }

    @Test func `A request of another task is no longer watched for its family`() {
        var watch = ExpectationWatch()
        let family = "com.example.*"
        _ = watch.define([(family, TaskExpectation(start: .seconds(60)))], now: start)
        _ = watch.changed(task, of: family) { start }
        #expect(raised(advance(&watch, to: 60, .since(start))) == [AlertKey(.lateStart, family)])
        let found = watch.forgetWaiting { identifier, _ in identifier == task }
        #expect(found == [.clear(AlertKey(.lateStart, family))])
        #expect(advance(&watch, to: 10_000, .since(start)).isEmpty)
    }
}
