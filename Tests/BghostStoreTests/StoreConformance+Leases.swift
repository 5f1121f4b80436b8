// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy
import BghostStore
import Testing

extension StoreConformance {
    static let leaseChecks: [Check] = [
        Check("a begun request is leased to its run") { try await $0.leases() },
        Check("only a pending request can begin") { try await $0.beginsOnlyPending() },
        Check("a leased request is neither closed nor replaced") { try await $0.holdsLeases() },
        Check("an end counts only under its lease") { try await $0.fences() },
        Check("an end counts once") { try await $0.endsOnce() },
        Check("an end and what follows it are stored together") { try await $0.endsAndFollows() },
        Check("a request is pending again") { try await $0.triesAgain() },
        Check("keeps dead letters until they are redriven or discarded") {
            try await $0.keepsDead()
        },
        Check("tells the newest dead letters first") { try await $0.tellsNewestDead() },
        Check("lists dead letters in pages") { try await $0.pagesDeadLetters() },
        Check("lists starts that did not happen in pages") { try await $0.pagesStarts() },
    ]

    func leases() async throws {
        try await commit(.accepted(Sample.fullRequest, replacing: nil))
        var record = Sample.fullRecord
        record.state = .starting
        record.outcome = nil
        try await commit(.runStarted(record))
        let state = try store.recover()
        #expect(state.pending.isEmpty)
        #expect(state.interrupted.map(\.request) == [Sample.fullRequest])
        #expect(state.interrupted.map(\.run) == [record])
        // Only ended runs are history.
        #expect(store.runs(task: nil, limit: 10).isEmpty)
        #expect(store.run(ofRequest: record.request) == nil)
    }

    func beginsOnlyPending() async throws {
        try await commit(.runStarted(Sample.begun(101, request: 1)))
        #expect(try store.recover().interrupted.isEmpty)
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.runStarted(Sample.begun(102, request: 1)))
        try await commit(.runStarted(Sample.begun(103, request: 1, epoch: 2)))
        #expect(try store.recover().interrupted.map(\.run) == [Sample.begun(102, request: 1)])
    }

    func holdsLeases() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.runStarted(Sample.begun(101, request: 1)))
        try await commit(.closed(Sample.id(1), .cancelled))
        try await commit(.accepted(Sample.request(2), replacing: Sample.id(1)))
        try await commit(.discarded(Sample.id(1)), .redriven(Sample.request(1)))
        let state = try store.recover()
        #expect(state.interrupted.map(\.request) == [Sample.request(1)])
        #expect(state.pending == [Sample.request(2)])
    }

    func fences() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        let stale = [
            Sample.ended(101, request: 1, epoch: 4), Sample.ended(101, request: 1, epoch: 6),
            Sample.ended(102, request: 1, epoch: 5), Sample.ended(101, request: 2, epoch: 5),
        ]
        // Nothing is leased yet; afterwards another lease is.
        for _ in 1...2 {
            for record in stale {
                try await commit(.runEnded(record, then: .consumed))
                try await commit(.runEnded(record, then: .again(Sample.request(9))))
                try await commit(.runEnded(record, then: .dead(Sample.request(9), reason: "")))
            }
            #expect(store.runs(task: nil, limit: 10).isEmpty)
            #expect(store.deadLetters(task: nil, limit: 10).isEmpty)
            try await commit(.runStarted(Sample.begun(101, request: 1, epoch: 5)))
        }
        let state = try store.recover()
        #expect(state.pending.isEmpty)
        #expect(state.interrupted.map(\.run) == [Sample.begun(101, request: 1, epoch: 5)])
    }

    func endsOnce() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.runStarted(Sample.begun(101, request: 1)))
        let record = Sample.ended(101, request: 1)
        for _ in 1...3 { try await commit(.runEnded(record, then: .consumed)) }
        #expect(store.runs(task: nil, limit: 10) == [record])
        let state = try store.recover()
        #expect(state.pending.isEmpty && state.interrupted.isEmpty)
    }

    func endsAndFollows() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.accepted(Sample.request(2), replacing: nil))
        try await commit(.runStarted(Sample.begun(101, request: 1)))
        var follower = Sample.request(3)
        follower.submitter = .predecessor(Sample.id(101))
        follower.parameters = #"{"result":1}"#
        try await commit(
            .runEnded(Sample.ended(101, request: 1), then: .consumed),
            .accepted(follower, replacing: Sample.id(2))
        )
        #expect(try pending() == [follower])
        var begun = Sample.begun(103, request: 3)
        begun.submitterRun = Sample.id(101)
        try await commit(.runStarted(begun))
        #expect(try store.recover().interrupted.map(\.run) == [begun])
        #expect(try store.recover().interrupted.map(\.request) == [follower])
        var ended = Sample.ended(103, request: 3)
        ended.submitterRun = Sample.id(101)
        try await commit(.runEnded(ended, then: .dead(follower, reason: "it failed")))
        #expect(store.runs(task: nil, limit: 10).map(\.submitterRun) == [Sample.id(101), nil])
        #expect(store.deadLetters(task: nil, limit: 10).map(\.request) == [follower])
    }

    func triesAgain() async throws {
        try await commit(.accepted(Sample.request(1), replacing: nil))
        try await commit(.runStarted(Sample.begun(101, request: 1, epoch: 1)))
        var next = Sample.request(1)
        next.counters.failures = 1
        next.earliestBegin = 500
        try await commit(.runEnded(Sample.ended(101, request: 1, epoch: 1), then: .again(next)))
        #expect(try pending() == [next])
        try await commit(.runStarted(Sample.begun(102, request: 1, epoch: 2)))
        // The run before comes back from the dead.
        try await commit(.runEnded(Sample.ended(101, request: 1, epoch: 1), then: .consumed))
        #expect(try store.recover().interrupted.map(\.request) == [next])
        try await commit(.runEnded(Sample.ended(102, request: 1, epoch: 2), then: .consumed))
        #expect(numbers(store.runs(task: nil, limit: 10)) == [102, 101])
        #expect(store.run(ofRequest: Sample.id(1))?.id == Sample.id(102))
    }

    func keepsDead() async throws {
        for number in 1...2 {
            try await commit(.accepted(Sample.request(number), replacing: nil))
            try await commit(.runStarted(Sample.begun(100 + number, request: number)))
            var last = Sample.request(number)
            last.counters.losses = 3
            let record = Sample.ended(100 + number, request: number)
            try await commit(.runEnded(record, then: .dead(last, reason: "poison é")))
            let letter = DeadLetter(
                request: last,
                reason: "poison é",
                run: record.id,
                diedAt: Int64(100 + number)
            )
            #expect(store.deadLetters(task: nil, limit: 1) == [letter])
        }
        #expect(try pending().isEmpty)
        // Neither begins, nor is closed or replaced.
        try await commit(
            .runStarted(Sample.begun(201, request: 1)),
            .closed(Sample.id(1), .cancelled)
        )
        try await commit(.accepted(Sample.request(3), replacing: Sample.id(1)))
        #expect(store.deadLetters(task: nil, limit: 9).count == 2)

        try await commit(.redriven(Sample.request(1)), .redriven(Sample.request(8)))
        #expect(try pending() == [Sample.request(1), Sample.request(3)])
        #expect(store.deadLetters(task: nil, limit: 9).map(\.request.id) == [Sample.id(2)])
        try await commit(.discarded(Sample.id(2)), .discarded(Sample.id(1)))
        #expect(store.deadLetters(task: nil, limit: 9).isEmpty)
        #expect(try pending() == [Sample.request(1), Sample.request(3)])
    }

    func tellsNewestDead() async throws {
        for (number, task) in [(3, "a"), (1, "b"), (2, "a")] {
            let request = Sample.request(number, task: task)
            let record = Sample.ended(100 + number, request: number, task: task)
            try await commit(
                .accepted(request, replacing: nil),
                .runStarted(Sample.begun(100 + number, request: number, task: task)),
                .runEnded(record, then: .dead(request, reason: ""))
            )
        }
        func numbers(_ task: String?, _ limit: Int) -> [UInt64] {
            store.deadLetters(task: task, limit: limit).map(\.request.id.low)
        }
        #expect(numbers(nil, 9) == [3, 2, 1])
        #expect(numbers(nil, 2) == [3, 2])
        #expect(numbers("a", 9) == [3, 2])
        #expect(numbers("c", 9) == [])
        #expect(numbers(nil, 0) == [] && numbers(nil, -1) == [])
        #expect(numbers(nil, .max) == [3, 2, 1])
    }
}
