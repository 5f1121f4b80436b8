// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import Synchronization
import Testing

extension StoreConformance {
    static let runChecks: [Check] = [
        Check("answers pages of runs") { try await $0.answersPages() },
        Check("tells the newest runs first") { try await $0.tellsNewestFirst() },
        Check("finds runs by the beginning of their ids") { try await $0.findsPrefixes() },
        Check("finds the run of a request") { try await $0.findsTheRunOfARequest() },
        Check("knows the last run of each task") { try await $0.knowsLastRuns() },
        Check("keeps a record whole") { try await $0.keepsRecordsWhole() },
        Check("keeps every outcome") { try await $0.keepsOutcomes() },
    ]

    func tellsNewestFirst() async throws {
        for number in 1...5 {
            try await commit(Sample.wholeLife(number, task: number % 2 == 0 ? "even" : "odd"))
        }
        #expect(numbers(store.runs(task: nil, limit: 10)) == [5, 4, 3, 2, 1])
        #expect(numbers(store.runs(task: nil, limit: 2)) == [5, 4])
        #expect(numbers(store.runs(task: "odd", limit: 2)) == [5, 3])
        #expect(numbers(store.runs(task: "even", limit: 10)) == [4, 2])
        #expect(store.runs(task: "none", limit: 10).isEmpty)
        #expect(store.runs(task: nil, limit: 0).isEmpty)
        #expect(store.runs(task: nil, limit: -1).isEmpty)
        #expect(store.runs(task: nil, limit: .max).count == 5)
        // The order is that of the ends, whatever the ids are.
        try await commit(Sample.wholeLife(0))
        #expect(numbers(store.runs(task: nil, limit: 2)) == [0, 5])
    }

    func findsPrefixes() async throws {
        for number in [1, 2, 32, 33] { try await commit(Sample.wholeLife(number)) }
        let text = Sample.id(33).description
        #expect(numbers(store.runs(idPrefix: text, limit: 10)) == [33])
        #expect(numbers(store.runs(idPrefix: text.lowercased(), limit: 10)) == [33])
        #expect(numbers(store.runs(idPrefix: String(text.dropLast()), limit: 10)) == [33, 32])
        #expect(numbers(store.runs(idPrefix: String(text.dropLast()), limit: 1)) == [33])
        #expect(numbers(store.runs(idPrefix: "", limit: 10)) == [33, 32, 2, 1])
        #expect(numbers(store.runs(idPrefix: "0", limit: 10)) == [33, 32, 2, 1])
        for none in [text + "0", "%", "_", "1", "7", "8", "é", "\u{0}", "-"] {
            #expect(store.runs(idPrefix: none, limit: 10).isEmpty, "\(none.debugDescription)")
        }
    }

    func findsTheRunOfARequest() async throws {
        try await commit(Sample.wholeLife(1) + Sample.wholeLife(2))
        #expect(store.run(ofRequest: Sample.id(10_001))?.id == Sample.id(1))
        #expect(store.run(ofRequest: Sample.id(3)) == nil)
    }

    func knowsLastRuns() async throws {
        for (number, task) in [(1, "a"), (2, "b"), (3, "a")] {
            try await commit(Sample.wholeLife(number, task: task))
        }
        #expect(store.lastRun(task: "a")?.id == Sample.id(3))
        #expect(store.lastRun(task: "b")?.id == Sample.id(2))
        #expect(store.lastRun(task: "A") == nil)
        let last = store.lastRuns(tasks: ["b", "A", "a", "it's"])
        #expect(last.mapValues(\.id) == ["a": Sample.id(3), "b": Sample.id(2)])
        #expect(store.lastRuns(tasks: []).isEmpty)
    }

    func keepsRecordsWhole() async throws {
        let record = Sample.fullRecord
        try await commit(
            .accepted(Sample.fullRequest, replacing: nil),
            .runStarted(record),
            .runEnded(record, then: .consumed)
        )
        #expect(store.runs(task: nil, limit: 1) == [record])
        #expect(store.runs(idPrefix: record.id.description, limit: 1) == [record])
        try await commit(Sample.wholeLife(1))
        #expect(store.lastRun(task: "a") == Sample.ended(1, request: 10_001))
    }

    func keepsOutcomes() async throws {
        for (number, outcome) in Sample.outcomes.enumerated() {
            var record = Sample.ended(number, request: 500 + number)
            record.outcome = outcome
            record.stopReason = StopReason(rawValue: UInt32(number % 6))
            record.state = RunState.allCases[number % RunState.allCases.count]
            try await commit(
                .accepted(Sample.request(500 + number), replacing: nil),
                .runStarted(record),
                .runEnded(record, then: .consumed)
            )
            #expect(store.lastRun(task: "a") == record)
        }
    }

    // MARK: Order

    static let orderChecks: [Check] = [
        Check("a transaction takes effect in order") { try await $0.keepsOrder() },
        Check("a question sees what is not answered yet") { try await $0.seesTheUnanswered() },
        Check("answers in the order of the commits") { try await $0.answersInOrder() },
        Check("takes commits from many at once") { try await $0.takesConcurrentCommits() },
        Check("refuses commits once it is closed") { try await $0.refusesWhenClosed() },
    ]

    func keepsOrder() async throws {
        try await commit(
            .accepted(Sample.request(1), replacing: nil),
            .accepted(Sample.request(2), replacing: Sample.id(1)),
            .accepted(Sample.request(3), replacing: nil),
            .closed(Sample.id(3), .cancelled)
        )
        #expect(try pending() == [Sample.request(2)])
    }

    /// Asks right after each commit, while most of them wait for the disk.
    func seesTheUnanswered() async throws {
        for number in 1...200 {
            let request = Sample.request(number, task: "a")
            store.commit([.accepted(request, replacing: nil)]) { _ in }
            store.commit([.runStarted(Sample.begun(1000 + number, request: number))]) { _ in }
            // Stale: another run, another epoch.
            let stale = Sample.ended(5000 + number, request: number)
            store.commit([.runEnded(stale, then: .consumed)]) { _ in }
            let wrong = Sample.ended(1000 + number, request: number, epoch: 9)
            store.commit([.runEnded(wrong, then: .dead(request, reason: "no"))]) { _ in }
            #expect(store.run(ofRequest: Sample.id(number)) == nil)

            let record = Sample.ended(1000 + number, request: number)
            store.commit([.runEnded(record, then: .dead(request, reason: "yes"))]) { _ in }
            #expect(store.run(ofRequest: Sample.id(number)) == record)
            #expect(store.lastRun(task: "a") == record)
            #expect(store.lastRuns(tasks: ["a", "b"]) == ["a": record])
            #expect(store.runs(idPrefix: record.id.description, limit: 9) == [record])
            let newest = (max(1, number - 2)...number).reversed().map { UInt64(1000 + $0) }
            #expect(numbers(store.runs(task: "a", limit: 3)) == newest)
            #expect(store.deadLetters(task: "a", limit: 2).map(\.run) == [record.id])
            #expect(store.deadLetters(task: "b", limit: 2).isEmpty)

            store.commit([number % 2 == 0 ? .discarded(request.id) : .redriven(request)]) { _ in }
            #expect(store.deadLetters(task: nil, limit: 2).isEmpty)
        }
        #expect(try pending().map(\.id.low) == (0..<100).map { 2 * $0 + 1 })
    }

    func answersInOrder() async throws {
        let order = Mutex<[Int]>([])
        for number in 0..<500 {
            let changes: [StoreChange] =
                number % 7 == 0 ? [] : [.accepted(Sample.request(number), replacing: nil)]
            store.commit(changes) { result in
                #expect(throws: Never.self) { try result.get() }
                order.withLock { $0.append(number) }
            }
        }
        try await commit([])
        #expect(order.withLock { $0 } == Array(0..<500))
    }

    func takesConcurrentCommits() async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<10 {
                group.addTask {
                    for step in 1...10 {
                        try await commit(
                            Sample.wholeLife(writer * 10 + step, task: "w\(writer)")
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try pending().isEmpty)
        #expect(Set(numbers(store.runs(task: nil, limit: 1000))) == Set(1...100))
        for writer in 0..<10 {
            let expected = (1...10).reversed().map { UInt64(writer * 10 + $0) }
            #expect(numbers(store.runs(task: "w\(writer)", limit: 100)) == expected)
        }
    }

    func refusesWhenClosed() async throws {
        let first = Mutex(false)
        store.commit([.accepted(Sample.request(1), replacing: nil)]) { result in
            #expect(throws: Never.self) { try result.get() }
            first.withLock { $0 = true }
        }
        store.close()
        #expect(first.withLock { $0 })
        store.close()
        await #expect(throws: StoreError.self) {
            try await commit(.accepted(Sample.request(2), replacing: nil))
        }
    }

    func answersPages() async throws {
        for number in 1...60 {
            let task = ["a", "b", "c"][number % 3]
            try await commit(Sample.wholeLife(number, task: task))
        }
        var question = RunQuery(RunFilter(task: "b"), limit: 6)
        var pages: [[UInt64]] = []
        repeat {
            let page = store.runs(question)
            #expect(page.newest == 60)
            pages.append(numbers(page.runs))
            question.before = page.next
        } while question.before != nil && pages.count < 10
        let wanted = (1...60).filter { $0 % 3 == 1 }.reversed().map { UInt64($0) }
        #expect(pages.joined().elementsEqual(wanted))
        #expect(pages.dropLast().allSatisfy { $0.count == 6 } && pages.count == 4)
        let newer = store.runs(RunQuery(after: 57, limit: 9))
        #expect(numbers(newer.runs) == [60, 59, 58] && newer.next == nil)
        let times = store.runs(RunQuery(RunFilter(since: 10, until: 13), limit: 9))
        #expect(numbers(times.runs) == [12, 11, 10])
        #expect(store.runs(RunQuery(RunFilter(state: .unsuccessful), limit: 9)).runs.isEmpty)
        #expect(store.runs(RunQuery(RunFilter(plugin: "q"), limit: 9)).runs.isEmpty)
        #expect(store.runs(RunQuery(RunFilter(plugin: "p"), limit: 9)).runs.count == 9)
    }
}
