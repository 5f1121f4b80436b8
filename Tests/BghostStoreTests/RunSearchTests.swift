// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
@testable import BghostStore
import BghostTestSupport
import Glibc
import Testing

/// The questions for pages of runs.
@Suite(.ownThreads) struct RunSearchTests {
    let folder: TemporaryDirectory
    let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.file("state.db")
    }

    /// Each combination of conditions, with values that some runs have.
    private static var filters: [RunFilter] {
        let states: [RunFilter.State?] =
            [nil, .unsuccessful] + Outcome.Word.allCases.map { .outcome($0) }
        var filters: [RunFilter] = []
        for state in states {
            for bits in 0..<64 {
                func has(_ bit: Int) -> Bool { bits >> bit & 1 == 1 }
                filters.append(
                    RunFilter(
                        task: has(0) ? "t1" : nil,
                        plugin: has(1) ? "p0" : nil,
                        state: state,
                        since: has(2) ? 100 : nil,
                        until: has(3) ? 400 : nil,
                        idPrefix: has(4)
                            ? String(Sample.id(bits).description.prefix(has(0) ? 25 : 5)) : nil,
                        text: has(5) ? "OUT of" : nil
                    )
                )
            }
        }
        return filters
    }

    private func fill(_ store: SQLiteStore, _ count: Int) async throws {
        try await fill(store, 1...count)
    }

    private func fill(_ store: SQLiteStore, _ numbers: ClosedRange<Int>) async throws {
        let words = ["timed Out OF 3", "", "exit é", "out of memory"]
        var changes: [StoreChange] = []
        for number in numbers {
            var record = Sample.ended(number, request: 10_000_000 + number, task: "t\(number % 5)")
            record.plugin = "p\(number % 3)"
            record.outcome =
                number % 4 == 0 ? Sample.outcomes[number % Sample.outcomes.count] : .succeeded
            record.message = words[number % 7 % 4]
            let request = 10_000_000 + number
            changes += [
                .accepted(Sample.request(request, task: record.task), replacing: nil),
                .runStarted(Sample.begun(number, request: request, task: record.task)),
                .runEnded(record, then: .consumed),
            ]
        }
        try await StoreConformance(store: store).commit(changes)
    }

    @Test(.timeLimit(.minutes(5))) func `Each combination selects what it says`() async throws {
        let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
        try await fill(store, 500)
        let all = store.runs(task: nil, limit: 1000)
        #expect(all.count == 500)
        var selective = 0
        for filter in Self.filters {
            let wanted = all.filter { filter.matches($0, now: .max) }.map(\.id)
            var found: [RunID] = []
            var question = RunQuery(filter, limit: 7)
            repeat {
                let page = store.runs(question)
                #expect(page.entries.count <= 7)
                found += page.runs.map(\.id)
                question.before = page.next
            } while question.before != nil
            #expect(found == wanted, "\(filter)")
            if (1..<500).contains(wanted.count) { selective += 1 }
        }
        #expect(selective > 100)
        store.close()
    }

    @Test(.timeLimit(.minutes(5))) func `Runs of the tasks with a tag are selected`() async throws {
        let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
        defer { store.close() }
        var changes: [StoreChange] = []
        let names = ["a", "f.x", "f.y", "f", "fx", "own", "O'Hara"]
        for number in 1...70 {
            let (task, request) = (names[number % 7], 1000 + number)
            changes += [
                .accepted(Sample.request(request, task: task), replacing: nil),
                .runStarted(Sample.begun(number, request: request, task: task)),
                .runEnded(Sample.ended(number, request: request, task: task), then: .consumed),
            ]
        }
        try await StoreConformance(store: store).commit(changes)
        for (tags, wanted) in [
            (["f.*", "own"], ["f.x", "own"]), (["a"], ["a"]), (["f.*", "f.y"], ["f.x", "f.y"]),
            ([], []),
        ] {
            var tagged = TaggedTasks()
            for name in ["a", "f.*", "f.y", "own"] {
                let identifier = try #require(IdentifierPattern(name))
                tagged.add(identifier, hasTag: tags.contains(name))
            }
            tagged.finish()
            var filter = RunFilter(since: 1)
            filter.tagged = tagged
            var found: [String] = []
            var question = RunQuery(filter, limit: 4)
            repeat {
                let page = store.runs(question)
                found += page.runs.map(\.task)
                question.before = page.next
            } while question.before != nil
            let all = store.runs(task: nil, limit: 100).filter { filter.matches($0, now: .max) }
            #expect(found == all.map(\.task), "\(tags)")
            #expect(Set(found) == Set(wanted), "\(tags)")
            #expect(found.count == 10 * wanted.count, "\(tags)")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A search by tag does the same work in SQL for any number of tasks`() throws {
        func search(_ names: [String], limit: Int = 5) throws -> RunSearch {
            var tagged = TaggedTasks()
            for name in names {
                tagged.add(try #require(IdentifierPattern(name)), hasTag: true)
            }
            tagged.finish()
            var filter = RunFilter(text: "x")
            filter.tagged = tagged
            return RunSearch(RunQuery(filter, limit: limit), low: 0, high: 9, ids: nil)
        }
        let one = try search(["f.*"])
        let many = try search((1...5000).map { "f\($0).*" } + ["own"])
        #expect(one.sql == many.sql && one.values.count == many.values.count)
        // It selects what tells the tasks apart, and no large column.
        #expect(many.sql.hasPrefix("SELECT run.seq, run.task FROM"), "\(many.sql)")
        #expect(many.tagged?.contains("f77.x") == true && one.tagged?.contains("f77.x") == false)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A search by tag stops after the rows of a page, and can be continued`() async throws {
        let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
        defer { store.close() }
        // Only the two oldest runs have the tag.
        try await StoreConformance(store: store).commit(
            (1...2).flatMap { number -> [StoreChange] in
                let (task, request) = ("rare.\(number)", 9_000_000 + number)
                return [
                    .accepted(Sample.request(request, task: task), replacing: nil),
                    .runStarted(
                        Sample.begun(5_000_000 + number, request: request, task: task)
                    ),
                    .runEnded(
                        Sample.ended(5_000_000 + number, request: request, task: task),
                        then: .consumed
                    ),
                ]
            }
        )
        try await fill(store, RunQuery.readMax + 10)
        var tagged = TaggedTasks()
        for name in (1...1000).map({ "f\($0).*" }) + ["rare.*"] {
            tagged.add(try #require(IdentifierPattern(name)), hasTag: true)
        }
        tagged.finish()
        var filter = RunFilter()
        filter.tagged = tagged
        let first = store.runs(RunQuery(filter, limit: 5))
        #expect(first.entries.isEmpty && first.searchedTo != nil)
        let next = try #require(first.next)
        let second = store.runs(RunQuery(filter, before: next, limit: 1))
        #expect(second.runs.map(\.task) == ["rare.2"])
        let last = try #require(second.next)
        let third = store.runs(RunQuery(filter, before: last, limit: 1))
        #expect(third.runs.map(\.task) == ["rare.1"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `The followers of a run are selected`(inMemory: Bool) async throws {
        let store: any Store =
            inMemory ? MemoryStore() : try SQLiteStore(path: path) { Issue.record("\($0)") }
        defer { store.close() }
        var changes: [StoreChange] = []
        for number in 1...30 {
            var record = Sample.ended(number, request: 1000 + number, task: "t\(number % 2)")
            record.submitterRun = number % 3 == 0 ? nil : Sample.id(number % 3)
            changes += [
                .accepted(Sample.request(1000 + number, task: record.task), replacing: nil),
                .runStarted(
                    Sample.begun(number, request: 1000 + number, task: record.task)
                ),
                .runEnded(record, then: .consumed),
            ]
        }
        try await StoreConformance(store: store).commit(changes)
        for task in [nil, "t0"] {
            var filter = RunFilter(task: task)
            filter.submitterRun = Sample.id(2)
            let found = store.runs(RunQuery(filter, limit: 100)).runs
            #expect(found.count == (task == nil ? 10 : 5))
            #expect(found.allSatisfy { $0.submitterRun == Sample.id(2) })
            filter.submitterRun = Sample.id(9)
            #expect(store.runs(RunQuery(filter, limit: 100)).runs.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `Each combination walks an index`() throws {
        let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
        defer { store.close() }
        var used: Set<String> = []
        for filter in Self.filters {
            let ids = filter.idPrefix.flatMap { RunIDRange.ids(beginningWith: $0) }
            let search = RunSearch(RunQuery(filter, limit: 50), low: 0, high: 9, ids: ids)
            let plan = try store.open().ask { reader throws(SQLiteFailure) in
                try reader.pages.plan(search)
            }
            let walk = try #require(plan.first { $0.contains(" run ") || $0.hasSuffix(" run") })
            #expect(walk.hasPrefix("SEARCH run USING"), "\(filter): \(plan)")
            for line in plan where line.contains("TEMP B-TREE") {
                // Few runs share the beginning of an id that has the time of its start.
                #expect(walk.contains("run_id"), "\(filter): \(plan)")
            }
            for line in plan where line.hasPrefix("SCAN") {
                #expect(line == "SCAN some", "\(filter): \(plan)")
            }
            let words = walk.split(separator: " ")
            used.insert(
                words.firstIndex(of: "INDEX").map { String(words[$0 + 1]) }
                    ?? "key"
            )
        }
        #expect(
            used.subtracting(["key", "PRIMARY", "INTEGER"]) == [
                "run_id", "run_task", "run_plugin", "run_failed", "run_failed_task",
                "run_failed_plugin",
            ],
            "\(used)"
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `A search that no index answers stops, and can be continued`() async throws {
        let store = try SQLiteStore(path: path) { Issue.record("\($0)") }
        let count = 2 * RunQuery.readMax + 500
        try await fill(store, count)
        // Only the oldest run has it.
        var oldest = Sample.ended(0, request: 99)
        oldest.message = "a needle"
        #expect(RunFilter(text: "NEEDLE").matches(oldest, now: 0))
        var question = RunQuery(RunFilter(text: "timed out of 3"), limit: 1000)
        question.filter.until = 3
        question.filter.since = 1
        let narrowed = store.runs(question)
        // A long history is narrowed to the times before it is searched.
        #expect(narrowed.searchedTo == nil && narrowed.next == nil)
        question = RunQuery(RunFilter(text: "needle"), limit: 9)
        var reads = 0
        var dates: [Int64] = []
        repeat {
            let page = store.runs(question)
            #expect(page.entries.isEmpty)
            question.before = page.next
            if let date = page.searchedTo { dates.append(date) }
            reads += 1
        } while question.before != nil && reads < 9
        #expect(reads == 3)
        #expect(dates == [Int64(RunQuery.readMax + 501), 501])
        let page = store.runs(RunQuery(RunFilter(since: 1000, until: 1010), limit: 20))
        #expect(page.runs.map(\.id.low) == (1000..<1010).reversed().map { UInt64($0) })
        #expect(page.next == nil)
        store.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `Runs that are not on the disk yet are on the first page`() async throws {
        let store = try SQLiteStore(path: path)
        try await fill(store, 5)
        var page = store.runs(RunQuery(limit: 3))
        page.prepend([Sample.ended(9, request: 10), page.runs[0]], limit: 3)
        #expect(page.runs.map(\.id.low) == [9, 5, 4])
        #expect(page.next == 4)
        page.prepend((20..<24).map { Sample.ended($0, request: $0) }, limit: 3)
        #expect(page.next == 6)
        #expect(store.runs(RunQuery(before: 6, limit: 1)).runs.map(\.id.low) == [5])
        store.close()
    }

    /// Fills a store for minutes, so it runs only if it is asked for: `BGHOST_MILLION_RUNS=1`.
    @Test(
        .enabled(if: getenv("BGHOST_MILLION_RUNS") != nil),
        .timeLimit(.minutes(60))
    )
    func `A page of a million runs costs the rows that it has`() async throws {
        let policy = HistoryPolicy(host: HistorySettings(runs: 2_000_000, bytes: 8 << 30))
        let store = try SQLiteStore(path: path, retention: .init(policy: policy))
        for part in 0..<100 { try await fill(store, part * 10_000 + 1...part * 10_000 + 10_000) }
        let middle: Int64 = 500_000
        let questions: [(String, RunQuery)] = [
            ("newest", RunQuery(limit: 50)), ("in the middle", RunQuery(before: middle, limit: 50)),
            ("of a task", RunQuery(RunFilter(task: "t1"), before: middle, limit: 50)),
            ("of a plugin", RunQuery(RunFilter(plugin: "p1"), before: middle, limit: 50)),
            ("failed", RunQuery(RunFilter(state: .unsuccessful), before: middle, limit: 50)),
            (
                "failed of a task",
                RunQuery(RunFilter(task: "t1", state: .unsuccessful), before: middle, limit: 50)
            ),
            ("of a time", RunQuery(RunFilter(since: 300_000, until: 300_020), limit: 50)),
            ("killed", RunQuery(RunFilter(state: .outcome(.killed)), limit: 50)),
            (
                "by id",
                RunQuery(RunFilter(idPrefix: Sample.id(777_777).description), limit: 50)
            ),
            ("none with this text", RunQuery(RunFilter(text: "no such"), limit: 50)),
        ]
        for (name, query) in questions {
            var times: [Duration] = []
            var count = 0
            for _ in 0..<21 {
                let start = ContinuousClock.now
                count = store.runs(query).entries.count
                times.append(ContinuousClock.now - start)
            }
            let median = times.sorted()[10]
            print("\(name): \(count) runs, \(median)")
            // The search for a text reads 20,000 rows.
            #expect(median < (query.filter.text == nil ? .milliseconds(20) : .seconds(1)))
        }
        store.close()
    }
}
