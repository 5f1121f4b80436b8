// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import Testing

/// Pages that follow each other while rows come and go.
extension StoreConformance {
    private func die(_ number: Int, at date: Int64) async throws {
        let task = "t\(number % 3)"
        let request = Sample.request(number, task: task)
        var record = Sample.ended(1000 + number, request: number, task: task)
        record.endedAt = date
        try await commit(
            .accepted(request, replacing: nil),
            .runStarted(Sample.begun(1000 + number, request: number, task: task)),
            .runEnded(record, then: .dead(request, reason: ""))
        )
    }

    func pagesDeadLetters() async throws {
        // Ten die at once.
        for number in 0..<30 { try await die(number, at: number < 10 ? 500 : Int64(500 + number)) }
        func pages(_ query: DeadLetterQuery) -> [[Int]] {
            var query = query
            var pages: [[Int]] = []
            while pages.count < 100 {
                let page = store.deadLetters(query)
                #expect(page.letters.count <= query.limit)
                pages.append(page.letters.map { Int($0.request.id.low) })
                guard let next = page.next else { break }
                query.after = next
            }
            return pages
        }
        let all = (0..<30).reversed().map { $0 }
        for limit in [1, 3, 4, 30, 31] {
            #expect(pages(DeadLetterQuery(limit: limit)).flatMap { $0 } == all)
        }
        var query = DeadLetterQuery(tasks: .task("t1"), since: 500, until: 520, limit: 2)
        #expect(pages(query).flatMap { $0 } == [19, 16, 13, 10, 7, 4, 1])
        query.tasks = .beginning("t")
        query.isOfPlugin = { $0 == "t2" }
        #expect(pages(query).flatMap { $0 } == [17, 14, 11, 8, 5, 2])
        #expect(store.deadLetters(DeadLetterQuery(tasks: .task("x"), limit: 5)) == DeadLetterPage())
        #expect(store.deadLetters(DeadLetterQuery(limit: 0)) == DeadLetterPage())

        // The last of a page is discarded, and newer ones die: the next page is the same.
        let first = store.deadLetters(DeadLetterQuery(limit: 25))
        #expect(first.letters.last?.request.id == Sample.id(5))
        try await commit(.discarded(Sample.id(5)), .discarded(Sample.id(3)))
        try await die(30, at: 900)
        let second = store.deadLetters(DeadLetterQuery(after: first.next, limit: 25))
        #expect(second.letters.map(\.request.id) == [4, 2, 1, 0].map { Sample.id($0) })
        let forged = DeadLetterQuery.Place(diedAt: .min, run: Sample.id(0))
        #expect(store.deadLetters(DeadLetterQuery(after: forged, limit: 5)).letters.isEmpty)
    }

    func pagesStarts() async throws {
        func start(_ number: Int) -> SkippedStart {
            SkippedStart(
                task: "t\(number % 3)",
                kind: number % 2 == 0 ? .late : .misfire,
                // Twenty are due at once.
                due: number < 20 ? 1000 : Int64(1000 + number),
                until: Int64(5000 + number)
            )
        }
        for number in 0..<40 { try await commit(.startSkipped(start(number))) }
        func pages(_ query: SkippedStartQuery) -> [SkippedStart] {
            var query = query
            var found: [SkippedStart] = []
            for _ in 0..<100 {
                let page = store.skippedStarts(query)
                #expect(page.starts.count <= query.limit)
                found += page.starts
                guard let next = page.next else { break }
                query.after = next
            }
            return found
        }
        let all = (0..<40).reversed().map(start)
        for limit in [1, 3, 7, 40, 41] {
            #expect(pages(SkippedStartQuery(limit: limit)) == all)
        }
        for tasks in [TaskFilter.task("t1"), .beginning("t1")] {
            let query = SkippedStartQuery(
                tasks: tasks,
                kind: .misfire,
                since: 1000,
                until: 1030,
                limit: 2
            )
            #expect(pages(query) == [25, 19, 13, 7, 1].map(start))
        }
        var query = SkippedStartQuery(tasks: .task("t0"), limit: 3)
        query.isOfPlugin = { _ in false }
        #expect(pages(query).isEmpty)

        let first = store.skippedStarts(SkippedStartQuery(limit: 25))
        try await commit(.startSkipped(start(60)))
        try await commit(.startSkipped(start(5)))
        let second = store.skippedStarts(SkippedStartQuery(after: first.next, limit: 100))
        #expect(second.starts == (0..<15).reversed().map(start), "a new row moved the next page")
        let forged = SkippedStartQuery.Place(due: .min, number: .min)
        #expect(store.skippedStarts(SkippedStartQuery(after: forged, limit: 5)).starts.isEmpty)
    }
}
