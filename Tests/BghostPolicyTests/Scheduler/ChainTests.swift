// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostModel
@testable import BghostPolicy
import BghostSimulation
import BghostTestSupport
import Testing

/// What follows the success of a run.
@Suite struct ChainTests {
    private static let second = SchedulerHand.second

    /// `a`, then `b`, then `c`, unless a test says otherwise.
    private static func manifest(
        then: [String: [TaskFollower]] = ["a": [.init(task: "b")], "b": [.init(task: "c")]],
        adjust: (inout TaskDefinition) -> Void = { _ in }
    ) throws -> Manifest {
        try SchedulerHand.manifest("a", "b", "c", "family.*") { task in
            task.then = then[task.identifier.description] ?? []
            adjust(&task)
        }
    }

    private static func then(_ follower: TaskFollower) -> [String: [TaskFollower]] {
        ["a": [follower]]
    }

    /// The transactions that end a run, of what has happened so far.
    private static func ends(_ hand: SchedulerHand) -> [[StoreChange]] {
        hand.journal.flatMap(\.effects).compactMap { effect in
            if case .commitEnd(let changes, _) = effect { changes } else { nil }
        }
    }

    private static func accepted(_ changes: [StoreChange]) -> [Request] {
        changes.compactMap { if case .accepted(let request, _) = $0 { request } else { nil } }
    }

    @Test func `Each success submits the next task, in the transaction of its end`() throws {
        var hand = SchedulerHand(try Self.manifest(), slots: 1)
        try hand.submit(Submission(task: "a", parameters: #"{"own":1}"#))
        for (task, next) in [("a", "b"), ("b", "c"), ("c", nil)] as [(String, String?)] {
            #expect(hand.running == [task])
            let run = try #require(hand.begun.first)
            try hand.end(after: Self.second)
            let changes = try #require(Self.ends(hand).last)
            guard case .runEnded(_, then: .consumed) = changes.first else {
                Issue.record("\(changes)")
                return
            }
            let followers = Self.accepted(changes)
            #expect(followers.map(\.task) == (next.map { [$0] } ?? []))
            #expect(followers.allSatisfy { $0.submitter == .predecessor(run.record.id) })
            #expect(followers.allSatisfy { $0.parameters == "{}" && !$0.isManual })
            if next != nil {
                #expect(hand.begun.first?.record.submitterRun == run.record.id)
            }
        }
        #expect(hand.running.isEmpty && hand.pending.isEmpty)
        var replay = SchedulerReplay(SchedulerHand.settings(try Self.manifest(), slots: 1))
        try hand.expectTheSame(of: &replay)
    }

    @Test(
        arguments: [
            .failed, .cancelledClean, .killed(.graceExceeded), .killed(.memory),
            .crashed(.signalled(11)), .lost, .abandoned,
        ] as [Outcome]
    )
    func `Another end submits nothing, also where it makes a dead letter`(
        outcome: Outcome
    ) throws {
        for attempts in [1, 3] {
            var hand = SchedulerHand(
                try Self.manifest { task in
                    task.retry = RetryPolicy(
                        backoff: .exponential(base: .seconds(1), cap: .seconds(1)),
                        attemptsMax: attempts,
                        lossesMax: attempts
                    )
                }
            )
            try hand.submit(Submission(task: "a"))
            try hand.end(after: Self.second, outcome)
            #expect(Self.ends(hand).allSatisfy { Self.accepted($0).isEmpty })
            #expect(hand.scheduler.requests(of: "b").isEmpty)
            guard attempts == 3 else { continue }
            // The success of a later attempt counts.
            hand.pass(SchedulerHand.day)
            guard !hand.begun.isEmpty else { continue }
            try hand.end(after: Self.second)
            #expect(hand.running == ["b"])
        }
    }

    @Test func `A withdrawn request submits nothing, and a manual run begins a chain`() throws {
        var hand = SchedulerHand(try Self.manifest())
        let date = hand.now.unix + SchedulerHand.hour
        try hand.submit(Submission(task: "a", earliestBegin: date))
        hand.withdrawAll(["a"])
        #expect(hand.scheduler.requests(of: "b").isEmpty)
        try hand.trigger("a")
        try hand.end(after: Self.second)
        #expect(hand.running == ["b"])
        #expect(hand.begun.first?.isManual == false)
    }

    @Test func `Several tasks follow, members of families too`() throws {
        let then = [TaskFollower(task: "c"), .init(task: "family.x"), .init(task: "b")]
        var hand = SchedulerHand(try Self.manifest(then: ["a": then]))
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Self.second)
        #expect(hand.running.sorted() == ["b", "c", "family.x"])
        #expect(Self.accepted(try #require(Self.ends(hand).last)).map(\.task) == then.map(\.task))
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    static let results: [(result: String, parameters: String?)] = [
        (#"{"n":1,"s":"x"}"#, #"{"n":1,"s":"x"}"#), ("", "{}"), ("{}", "{}"),
        ("7", #"{"result":7}"#), (#"[1, 2]"#, #"{"result":[1, 2]}"#),
        ("null", #"{"result":null}"#), ("{", nil), ("words", nil), ("1} , {", nil),
        ("1, \"other\": 2", nil), (nested(63), "{\"result\":\(nested(63))}"), (nested(64), nil),
        ("{\"a\":\"\(String(repeating: "x", count: 65_536))\"}", nil),
    ]

    @Test(arguments: results)
    func `The result of a run becomes the parameters of what follows`(
        result: String,
        parameters: String?
    ) throws {
        let follower = TaskFollower(task: "b", takesResult: true)
        var hand = SchedulerHand(
            try Self.manifest(then: ["a": [follower, TaskFollower(task: "c")]]) { task in
                task.parameters = #"{"n":0,"own":true}"#
            }
        )
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Self.second, result: result)
        let accepted = Self.accepted(try #require(Self.ends(hand).last))
        #expect(accepted.first { $0.task == "b" }?.parameters == parameters)
        // The others follow in any case, with parameters of their own.
        #expect(accepted.last?.task == "c" && accepted.last?.parameters == "{}")
        let refused = hand.notes.filter { $0.code == "request.not_followed" }
        #expect(refused.map(\.task) == (parameters == nil ? ["b"] : []))
        #expect(refused.allSatisfy { $0.message.contains("of a: the result of the run ") })
        if result == Self.results[0].result {
            let run = try #require(hand.begun.first { $0.record.task == "b" })
            #expect(run.parameters == #"{"n":1,"own":true,"s":"x"}"#)
        }
    }

    @Test(arguments: ConflictPolicy.allCases)
    func `A pending request of what follows is replaced, kept, updated or followed`(
        policy: ConflictPolicy
    ) throws {
        let follower = TaskFollower(task: "b", takesResult: true, onConflict: policy)
        var hand = SchedulerHand(try Self.manifest(then: Self.then(follower)))
        let date = hand.now.unix + SchedulerHand.hour
        let before = try hand.submit(
            Submission(task: "b", parameters: #"{"old":1}"#, earliestBegin: date)
        )
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Self.second, result: #"{"new":1}"#)
        let waiting = hand.scheduler.pending("b")
        switch policy {
        case .replace: #expect(waiting == nil && hand.running == ["b"])
        case .keep: #expect(waiting == before && hand.pending[before.id] == before)
        case .update:
            #expect(waiting?.earliestBegin == date && waiting?.parameters == #"{"new":1}"#)
            #expect(waiting?.id != before.id)
        case .append:
            #expect(waiting == before)
            #expect(hand.scheduler.requests(of: "b").map(\.isAppended) == [false, true])
        }
        // What the store holds is what waits.
        let ids = hand.scheduler.requests(of: "b").map(\.id)
        #expect(Set(hand.pending.keys) == Set(ids))
    }

    @Test func `A follower that waits for its plugin does not count as a plugin's request`()
        throws
    {
        var manifest = try Self.manifest()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 1, processing: 1)
        var hand = SchedulerHand(manifest)
        try hand.submit(Submission(task: "a"))
        hand.perform { $0.set(plugin: 0, disabledReason: "", now: $1, &$2) }
        try hand.end(after: Self.second)
        let follower = try #require(hand.scheduler.pending("b"))
        hand.perform { $0.set(plugin: 0, disabledReason: nil, now: $1, &$2) }
        #expect(hand.running == ["b"])
        // It is listed among the requests of runs while it waits.
        hand.restart(manifest, slots: 0)
        hand.store(.accepted(follower, replacing: nil))
        hand.restart(manifest, slots: 0)
        let query = Scheduler.WaitingQuery(submitter: .run)
        let page = hand.scheduler.waiting(query, from: .start, limit: 9)
        #expect(page.requests == [follower])
        let run = RunID(high: 1, low: 1)
        let own = Submission(task: "c", earliestBegin: hand.now.unix + SchedulerHand.hour)
        #expect(throws: Never.self) { try hand.submit(own, by: .run(run)) }
    }

    @Test func `While the daemon stops, what follows is stored and waits for the next one`() throws
    {
        var hand = SchedulerHand(try Self.manifest())
        try hand.submit(Submission(task: "a"))
        hand.perform { scheduler, now, _ in scheduler.drain(now: now) }
        try hand.end(after: Self.second)
        #expect(hand.running.isEmpty && hand.pending.values.map(\.task) == ["b"])
        hand.restart(try Self.manifest())
        #expect(hand.running == ["b"])
    }

    @Test func `A run keeps the followers with which it began; a task that left is named`() throws {
        var hand = SchedulerHand(try Self.manifest())
        try hand.submit(Submission(task: "a"))
        // Meanwhile `c` follows `a`, and `b` is gone.
        hand.reload(
            try SchedulerHand.manifest("a", "c") { task in
                if task.identifier.description == "a" { task.then = [.init(task: "c")] }
            }
        )
        try hand.end(after: Self.second)
        #expect(hand.running.isEmpty && hand.pending.isEmpty)
        let note = try #require(hand.notes.last { $0.code == "request.not_followed" })
        #expect(note.level == .error && note.task == "b")
        #expect(note.message.contains("`b` is not permitted: add it to `tasks`"))
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Self.second)
        #expect(hand.running == ["c"])
    }

    @Test func `The schedule of what follows goes on`() throws {
        let schedule = TaskSchedule(times: .every(.seconds(3600)))
        let manifest = try Self.manifest(then: Self.then(.init(task: "b"))) { task in
            if task.identifier.description == "b" { task.schedule = schedule }
        }
        var hand = SchedulerHand(manifest)
        let next = try #require(hand.scheduler.pending("b")?.scheduledTime)
        try hand.submit(Submission(task: "a"))
        try hand.end(after: Self.second)
        #expect(hand.running == ["b"])
        #expect(hand.scheduler.pending("b")?.scheduledTime == next)
    }

    /// A client's request of the follower is on its way to the store when the run ends.
    @Test(arguments: [ConflictPolicy.replace, .keep])
    func `A request that is being stored and what follows leave one request`(
        policy: ConflictPolicy
    ) throws {
        let follower = TaskFollower(task: "b", onConflict: policy)
        var hand = SchedulerHand(try Self.manifest(then: Self.then(follower)), slots: 1)
        try hand.submit(Submission(task: "a"))
        let submission = Submission(task: "b", earliestBegin: hand.now.unix + SchedulerHand.hour)
        let accepted = try #require(
            try hand.perform { scheduler, now, _ in try scheduler.accept(submission, now: now) }
        )
        hand.perform { scheduler, now, effects in
            scheduler.storeBlocked("full", now: now, &effects)
        }
        hand.store(accepted.change)
        try hand.end(after: Self.second)
        #expect((hand.scheduler.pending("b") == nil) == (policy == .keep))
        hand.perform { $0.finishSubmission(accepted, isStored: true, now: $1, &$2) }
        #expect(hand.scheduler.requests(of: "b").map(\.id) == [accepted.request.id])
        #expect(hand.pending.values.map(\.id) == [accepted.request.id])
    }

    @Test func `A task without followers is recorded as before, one with some is not`() throws {
        let plain = try SchedulerHand.manifest("a")
        let chain = try SchedulerHand.manifest("a") { $0.then = [.init(task: "b")] }
        #expect(CanonicalText(plain).text.contains("then: ") == false)
        #expect(plain.fingerprint != chain.fingerprint)
    }
}
