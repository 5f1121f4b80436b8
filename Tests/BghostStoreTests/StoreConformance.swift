// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostStore
import Testing

/// What every store must do, each check with a store that holds nothing yet.
///
/// The suite of a store runs each of `checks` with a store of its own that keeps at least 100
/// ended runs.
struct StoreConformance {
    let store: any Store

    static let checks: [Check] = [
        Check("begins empty") { try await $0.beginsEmpty() },
        Check("keeps pending requests, oldest first") { try await $0.keepsPending() },
        Check("a replaced request is gone") { try await $0.replaces() },
        Check("a withdrawn request is gone") { try await $0.withdraws() },
        Check("a begun request is not pending") { try await $0.begins() },
        Check("a transaction takes effect in order") { try await $0.keepsOrder() },
        Check("tells the newest runs first") { try await $0.tellsNewestFirst() },
        Check("finds runs by the beginning of their ids") { try await $0.findsPrefixes() },
        Check("finds the run of a request") { try await $0.findsTheRunOfARequest() },
        Check("knows the last run of each task") { try await $0.knowsLastRuns() },
        Check("keeps a record whole") { try await $0.keepsRecordsWhole() },
        Check("takes commits from many at once") { try await $0.takesConcurrentCommits() },
    ]

    struct Check: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (StoreConformance) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (StoreConformance) async throws -> Void) {
            testDescription = name
            self.run = run
        }
    }

    // MARK: Requests

    func beginsEmpty() async throws {
        #expect(try pending().isEmpty)
        #expect(try store.recover().interrupted.isEmpty)
        #expect(store.runs(task: nil, limit: 10).isEmpty)
        #expect(store.runs(idPrefix: "", limit: 10).isEmpty)
        #expect(store.run(ofRequest: Sample.id(1)) == nil)
        #expect(store.lastRun(task: "a") == nil)
        try await commit([])
        #expect(try pending().isEmpty)
    }

    func keepsPending() async throws {
        let requests = [3, 1, 2].map { Sample.request($0) }
        for request in requests { try await commit([.accepted(request, replacing: nil)]) }
        #expect(try pending() == requests.sorted { $0.id < $1.id })
    }

    func replaces() async throws {
        try await commit([.accepted(Sample.request(1), replacing: nil)])
        try await commit([.accepted(Sample.request(2), replacing: Sample.id(1))])
        #expect(try pending() == [Sample.request(2)])
    }

    func withdraws() async throws {
        try await commit([.accepted(Sample.request(1), replacing: nil)])
        try await commit([.withdrawn(Sample.id(9), reason: "is not there")])
        #expect(try pending().count == 1)
        try await commit([.withdrawn(Sample.id(1), reason: "by the operator")])
        #expect(try pending().isEmpty)
    }

    func begins() async throws {
        try await commit([.accepted(Sample.request(1), replacing: nil)])
        var record = Sample.ended(101, request: 1)
        record.state = .starting
        record.outcome = nil
        try await commit([.began(record)])
        #expect(try pending().isEmpty)
        // Only ended runs are history.
        #expect(store.runs(task: nil, limit: 10).isEmpty)
        #expect(store.run(ofRequest: Sample.id(1)) == nil)
    }

    func keepsOrder() async throws {
        try await commit([
            .accepted(Sample.request(1), replacing: nil),
            .accepted(Sample.request(2), replacing: Sample.id(1)),
            .accepted(Sample.request(3), replacing: nil),
            .withdrawn(Sample.id(3), reason: "at once"),
        ])
        #expect(try pending() == [Sample.request(2)])
    }

    // MARK: Runs

    func tellsNewestFirst() async throws {
        for number in 1...5 {
            try await commit([.ended(Sample.ended(number, task: number % 2 == 0 ? "even" : "odd"))])
        }
        #expect(numbers(store.runs(task: nil, limit: 10)) == [5, 4, 3, 2, 1])
        #expect(numbers(store.runs(task: nil, limit: 2)) == [5, 4])
        #expect(numbers(store.runs(task: "odd", limit: 2)) == [5, 3])
        #expect(numbers(store.runs(task: "even", limit: 10)) == [4, 2])
        #expect(store.runs(task: "none", limit: 10).isEmpty)
        #expect(store.runs(task: nil, limit: 0).isEmpty)
        #expect(store.runs(task: nil, limit: -1).isEmpty)
    }

    func findsPrefixes() async throws {
        for number in [1, 2, 32, 33] { try await commit([.ended(Sample.ended(number))]) }
        let text = Sample.id(33).description
        #expect(numbers(store.runs(idPrefix: text, limit: 10)) == [33])
        #expect(numbers(store.runs(idPrefix: text.lowercased(), limit: 10)) == [33])
        #expect(numbers(store.runs(idPrefix: String(text.dropLast()), limit: 10)) == [33, 32])
        #expect(numbers(store.runs(idPrefix: String(text.dropLast()), limit: 1)) == [33])
        #expect(numbers(store.runs(idPrefix: "", limit: 10)) == [33, 32, 2, 1])
        #expect(store.runs(idPrefix: text + "0", limit: 10).isEmpty)
        #expect(store.runs(idPrefix: "%", limit: 10).isEmpty)
        #expect(store.runs(idPrefix: "_", limit: 10).isEmpty)
    }

    func findsTheRunOfARequest() async throws {
        try await commit([
            .ended(Sample.ended(101, request: 1)), .ended(Sample.ended(102, request: 2)),
        ])
        #expect(store.run(ofRequest: Sample.id(1))?.id == Sample.id(101))
        #expect(store.run(ofRequest: Sample.id(3)) == nil)
    }

    func knowsLastRuns() async throws {
        for (number, task) in [(1, "a"), (2, "b"), (3, "a")] {
            try await commit([.ended(Sample.ended(number, task: task))])
        }
        #expect(store.lastRun(task: "a")?.id == Sample.id(3))
        #expect(store.lastRun(task: "b")?.id == Sample.id(2))
        #expect(store.lastRun(task: "A") == nil)
    }

    func keepsRecordsWhole() async throws {
        let request = Request(
            id: Sample.id(1),
            task: "t",
            parameters: #"{"é":[1,null]}"#,
            submittedAt: .max,
            earliestBegin: .min,
            priority: 1000,
            attempt: 7,
            isSimulated: true
        )
        let record = RunRecord(
            id: Sample.id(2),
            request: Sample.id(3),
            task: "t",
            plugin: "p",
            attempt: 3,
            state: .ended,
            outcome: .killed(.protocolFault(7)),
            stopReason: .quota,
            message: "a\"b\u{0}\n'é",
            result: "{}",
            progress: RunProgress(done: 1, total: .max, phase: "half"),
            limits: RunLimits(runtime: .nanoseconds(1), grace: .seconds(600)),
            pid: 77,
            submittedAt: 1,
            startedAt: 2,
            endedAt: .max,
            duration: .nanoseconds(12_345),
            usage: RunUsage(cpu: .milliseconds(3), peakMemoryBytes: 1 << 40, outputBytes: 9)
        )
        try await commit([.accepted(request, replacing: nil), .ended(record)])
        #expect(try pending() == [request])
        #expect(store.runs(task: nil, limit: 1) == [record])
    }

    func takesConcurrentCommits() async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<10 {
                group.addTask {
                    for step in 1...10 {
                        let number = writer * 10 + step
                        try await commit([.accepted(Sample.request(number), replacing: nil)])
                        try await commit([
                            .withdrawn(Sample.id(number), reason: ""),
                            .ended(Sample.ended(number, task: "w\(writer)")),
                        ])
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

    // MARK: Short words

    private func pending() throws -> [Request] { try store.recover().pending }

    private func numbers(_ records: [RunRecord]) -> [UInt64] { records.map(\.id.low) }

    private func commit(_ changes: [StoreChange]) async throws {
        // A second answer would trap here.
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes) { continuation.resume(with: $0) }
        }
    }
}

/// Requests and runs whose ids are small numbers.
enum Sample {
    static func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    static func request(_ number: Int) -> Request {
        Request(
            id: id(number),
            task: "t\(number)",
            parameters: "{}",
            submittedAt: Int64(number),
            priority: 500
        )
    }

    static func ended(_ number: Int, request: Int = 0, task: String = "a") -> RunRecord {
        RunRecord(
            id: id(number),
            request: id(request),
            task: task,
            plugin: "p",
            state: .ended,
            outcome: .succeeded,
            limits: RunLimits(kind: .refresh),
            submittedAt: Int64(number)
        )
    }
}
