// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostStore
import Testing

/// What every store must do, each check with a store that holds nothing yet.
///
/// The suite of a store runs each of `checks` with a store of its own that keeps at least 100
/// ended runs.
struct StoreConformance {
    let store: any Store

    static let checks: [Check] =
        requestChecks + runChecks + leaseChecks + checkpointChecks + orderChecks

    struct Check: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (StoreConformance) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (StoreConformance) async throws -> Void) {
            testDescription = name
            self.run = run
        }
    }

    // MARK: Short words

    func pending() throws -> [Request] { try store.recover().pending }

    func numbers(_ records: [RunRecord]) -> [UInt64] { records.map(\.id.low) }

    func commit(_ changes: StoreChange...) async throws { try await commit(changes) }

    func commit(_ changes: [StoreChange]) async throws {
        // A second answer would trap here.
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes) { continuation.resume(with: $0) }
        }
    }
}

extension StoreConformance {
    static let requestChecks: [Check] = [
        Check("begins empty") { try await $0.beginsEmpty() },
        Check("keeps pending requests, oldest first") { try await $0.keepsPending() },
        Check("a replaced request is gone") { try await $0.replaces() },
        Check("a request accepted once more takes its own place") { try await $0.acceptsAgain() },
        Check("a closed request is gone") { try await $0.closes() },
        Check("keeps requests whole") { try await $0.keepsRequestsWhole() },
        Check("keeps what is remembered of tasks") { try await $0.remembers() },
        Check("keeps which plugins are off") { try await $0.keepsSwitches() },
        Check("keeps which plugins are quarantined") { try await $0.keepsQuarantines() },
        Check("keeps a day of the plugins' runtime") { try await $0.keepsRuntime() },
    ]

    func beginsEmpty() async throws {
        let state = try store.recover()
        #expect(state.incarnation >= 1)
        #expect(state.pending.isEmpty && state.interrupted.isEmpty && state.tasks.isEmpty)
        #expect(state.disabledPlugins.isEmpty)
        #expect(store.runs(task: nil, limit: 10).isEmpty)
        #expect(store.runs(idPrefix: "", limit: 10).isEmpty)
        #expect(store.run(ofRequest: Sample.id(1)) == nil)
        #expect(store.lastRun(task: "a") == nil)
        #expect(store.deadLetters(task: nil, limit: 10).isEmpty)
        try await commit([])
        #expect(try pending().isEmpty)
    }

    func keepsPending() async throws {
        let requests = [3, 1, 2].map { Sample.request($0) }
        // The full one is a manual run, and those are not appended.
        var plain = Sample.request(1)
        plain.isAppended = true
        expectDifferent(Sample.fullRequest, plain)
        for request in requests { try await commit(.accepted(request, replacing: nil)) }
        #expect(try pending() == requests.sorted { $0.id < $1.id })
    }

    func replaces() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.accepted(Sample.request(2), replacing: Sample.id(1)))
        try await commit(.accepted(Sample.request(3), replacing: Sample.id(9)))
        #expect(try pending() == [Sample.request(2), Sample.request(3)])
    }

    func acceptsAgain() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        var later = Sample.request(1)
        later.earliestBegin = 99
        try await commit(.accepted(later, replacing: nil))
        #expect(try pending() == [later])
        later.earliestBegin = 100
        try await commit(.accepted(later, replacing: later.id))
        #expect(try pending() == [later])
    }

    func closes() async throws {
        for (offset, end) in RequestEnd.all.enumerated() {
            try await commit(.accepted(Sample.request(offset), replacing: nil))
            try await commit(.closed(Sample.id(99), end))
            #expect(try pending().count == 1)
            try await commit(.closed(Sample.id(offset), end))
            #expect(try pending().isEmpty)
        }
    }

    func keepsRequestsWhole() async throws {
        var requests = [Sample.fullRequest, Sample.request(1), Sample.request(2)]
        requests[1].submitter = .manifest
        requests[1].missed = MissedStarts(count: 0, from: 0)
        requests[1].earliestBegin = 0
        requests[2].parameters = ""
        requests[2].submitter = .plugin("weather")
        requests[2].task = ""
        requests[2].isAppended = true
        for request in requests { try await commit(.accepted(request, replacing: nil)) }
        #expect(try pending() == requests.sorted { $0.id < $1.id })
    }

    func remembers() async throws {
        let plain = TaskMemory(identifier: "a", scheduledSince: 4)
        var uses = UsePattern()
        uses.add(now: .max)
        let full = TaskMemory(
            identifier: "é",
            throttle: ThrottlePoints(
                points: .max,
                changedAt: .min,
                lastEnd: .max,
                runs: [
                    LateRun(
                        run: RunID(high: .max, low: 0),
                        stoppedAfter: .max,
                        isKilled: true,
                        endedAt: .min
                    )
                ]
            ),
            lastServedTime: .min,
            served: try #require(ServedTimes(text: "-7/-7 3/9")),
            schedule: "every 5m",
            scheduledSince: .max,
            parkedSince: .min,
            uses: uses
        )
        expectDifferent(full, plain)
        try await commit(
            .remembered(TaskMemory(identifier: "a", lastServedTime: 3)),
            .remembered(full)
        )
        try await commit(.remembered(plain))
        let tasks = try store.recover().tasks.sorted { $0.identifier < $1.identifier }
        #expect(tasks == [plain, full])
        // An empty state has no row, also if there was none before.
        try await commit(
            .remembered(TaskMemory(identifier: "a")),
            .remembered(TaskMemory(identifier: "b", throttle: ThrottlePoints(changedAt: 7)))
        )
        #expect(try store.recover().tasks == [full])
    }

    /// A part that is equal in both would be kept by a store that ignores it.
    private func expectDifferent<Value>(_ full: Value, _ plain: Value) {
        for (one, other) in zip(
            Mirror(reflecting: full).children,
            Mirror(reflecting: plain).children
        ) {
            #expect(
                String(describing: one.value) != String(describing: other.value),
                "give `\(one.label ?? "")` of \(Value.self) a value of its own"
            )
        }
    }

    func keepsRuntime() async throws {
        func use(_ plugin: String, _ kind: TaskKind, _ minute: Int64, _ time: Int64) -> RuntimeUse {
            RuntimeUse(plugin: plugin, kind: kind, minute: minute, nanoseconds: time)
        }
        try await commit(
            .runtimeConsumed(use("p", .refresh, 10, 1)),
            .runtimeConsumed(use("p", .refresh, 11, 2)),
            .runtimeConsumed(use("p", .refresh, 11, 3)),
            .runtimeConsumed(use("p", .processing, 11, 4)),
            .runtimeConsumed(use("q", .refresh, 11, .max))
        )
        func kept() throws -> [RuntimeUse] {
            try store.recover().runtime.sorted {
                ($0.minute, $0.nanoseconds) < ($1.minute, $1.nanoseconds)
            }
        }
        #expect(
            try kept() == [
                use("p", .refresh, 10, 1), use("p", .refresh, 11, 3), use("p", .processing, 11, 4),
                use("q", .refresh, 11, .max),
            ]
        )
        // A day later only the latest minute counts, and what a wrong clock wrote does not.
        let day = RuntimeUse.minutesKept
        try await commit(.runtimeConsumed(use("q", .refresh, 11 + day, 5)))
        #expect(try kept().map(\.minute) == [11, 11, 11, 11 + day])
        try await commit(.runtimeConsumed(use("p", .refresh, 11, 6)))
        #expect(try kept().map(\.nanoseconds) == [4, 6, .max])
    }

    func keepsQuarantines() async throws {
        let p = Sample.quarantine("p", reason: "it crashed")
        let q = Sample.quarantine("q", reason: "é\n")
        try await commit(
            .quarantined(plugin: "p", p),
            .quarantined(plugin: "q", q),
            .quarantined(plugin: "r", nil)
        )
        #expect(try store.recover().quarantines == [p, q])
        let again = Sample.quarantine("q", reason: "again")
        try await commit(.quarantined(plugin: "p", nil), .quarantined(plugin: "q", again))
        #expect(try store.recover().quarantines == [again])
    }

    func keepsSwitches() async throws {
        try await commit(
            .switched(plugin: "p", off: "by the operator"),
            .switched(plugin: "q", off: ""),
            .switched(plugin: "r", off: nil)
        )
        #expect(try store.recover().disabledPlugins == ["p": "by the operator", "q": ""])
        try await commit(.switched(plugin: "p", off: nil), .switched(plugin: "q", off: "again"))
        #expect(try store.recover().disabledPlugins == ["q": "again"])
    }
}
