// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
@testable import BghostPolicy
import Testing

/// Requests of handlers whose runs exclude one another.
@Suite struct SerialHandlerTests {
    private static func manifest(_ tasks: [String: String]) throws -> Manifest {
        var manifest = try SchedulerHand.manifest()
        manifest.plugins[0].maxPending = PendingLimits(refresh: 1 << 20, processing: 1 << 20)
        manifest.tasks = try tasks.sorted { $0.key < $1.key }.map { pattern, handler in
            TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: handler)
            )
        }
        return manifest
    }

    private static func load(_ hand: inout SchedulerHand, serial: [String]) {
        hand.perform { scheduler, now, effects in
            scheduler.pluginLoaded(0, serial: serial, now: now, &effects)
        }
    }

    /// The requests that have begun, by task.
    private static func tasks(_ hand: SchedulerHand) -> [String] { hand.begun.map(\.record.task) }

    @Test func `The end of a serial run visits one waiting request, not all`()
        throws
    {
        var hand = SchedulerHand(try Self.manifest(["report.*": "report"]))
        let count = 5000
        for number in 0..<count { try hand.submit(Submission(task: "report.\(number)")) }
        Self.load(&hand, serial: ["report"])
        #expect(Self.tasks(hand) == ["report.0"])
        // Each request may be considered once before it waits for the handler.
        #expect(hand.scheduler.entriesVisited <= count + 10)
        let before = hand.scheduler.entriesVisited
        for number in 0..<count {
            #expect(Self.tasks(hand) == ["report.\(number)"])
            try hand.end(after: 1)
        }
        #expect(hand.begun.isEmpty)
        #expect(hand.scheduler.entriesVisited - before <= 3 * count)
    }

    @Test func `Handlers do not wait for each other, and keep the order of ranks`() throws {
        var hand = SchedulerHand(try Self.manifest(["a.*": "a", "b.*": "b", "free.*": "free"]))
        Self.load(&hand, serial: ["a", "b"])
        for number in 0..<3 {
            try hand.submit(Submission(task: "a.\(number)"))
            try hand.submit(Submission(task: "b.\(number)"))
        }
        #expect(Self.tasks(hand) == ["a.0", "b.0"])
        for number in 0..<3 { try hand.submit(Submission(task: "free.\(number)")) }
        #expect(Self.tasks(hand) == ["a.0", "b.0", "free.0", "free.1"])
        try hand.end(after: 1)
        // The slot of a.0 goes to the request that has waited longest.
        #expect(Self.tasks(hand) == ["b.0", "free.0", "free.1", "a.1"])
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["free.0", "free.1", "a.1", "b.1"])
        while !hand.begun.isEmpty { try hand.end(after: 1) }
        #expect(hand.pending.isEmpty)
    }

    @Test func `If the first waiting request is withdrawn, the next one starts`() throws {
        var hand = SchedulerHand(try Self.manifest(["a.*": "a"]))
        Self.load(&hand, serial: ["a"])
        for number in 0..<4 { try hand.submit(Submission(task: "a.\(number)")) }
        hand.perform { _ = $0.withdraw("a.1", now: $1, &$2) }
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.2"])
        // A replaced request is behind the earlier ones.
        try hand.submit(Submission(task: "a.3", parameters: #"{"n":1}"#))
        try hand.submit(Submission(task: "a.0"))
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.3"])
        #expect(hand.begun.first?.parameters == #"{"n":1}"#)
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.0"])
    }

    @Test func `A date that passes while the handler is busy closes the request at once`() throws {
        var hand = SchedulerHand(try Self.manifest(["a.*": "a"]))
        Self.load(&hand, serial: ["a"])
        try hand.submit(Submission(task: "a.0"))
        let late = try hand.submit(
            Submission(task: "a.1", latestBegin: hand.now.unix + SchedulerHand.second)
        )
        try hand.submit(Submission(task: "a.2"))
        hand.pass(2 * SchedulerHand.second)
        #expect(hand.ends[late.id] == .missed)
        #expect(Self.tasks(hand) == ["a.0"])
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.2"])
    }

    @Test func `A blocked request does not block those behind it`() throws {
        var manifest = try Self.manifest(["a.*": "a"])
        manifest.tasks.append(
            TaskDefinition(
                identifier: try #require(IdentifierPattern("online")),
                handler: .plugin(name: "plugin", handler: "a"),
                requirements: [.network]
            )
        )
        var hand = SchedulerHand(manifest)
        Self.load(&hand, serial: ["a"])
        try hand.submit(Submission(task: "a.0"))
        try hand.submit(Submission(task: "online"))
        try hand.submit(Submission(task: "a.1"))
        try hand.submit(Submission(task: "a.2"))
        for number in 0..<3 {
            #expect(Self.tasks(hand) == ["a.\(number)"])
            try hand.end(after: 1)
        }
        #expect(hand.begun.isEmpty && hand.pending.count == 1)
    }

    @Test func `If a handler is not serial, all its waiting requests start`() throws {
        var hand = SchedulerHand(try Self.manifest(["a.*": "a"]), slots: 10)
        for number in 0..<5 { try hand.submit(Submission(task: "a.\(number)")) }
        // Before the plugin is loaded, its first run has no others beside it.
        #expect(Self.tasks(hand) == ["a.0"])
        Self.load(&hand, serial: [])
        #expect(Self.tasks(hand) == (0..<5).map { "a.\($0)" })
    }

    @Test func `A reload that changes the handler starts the waiting tasks`() throws {
        var hand = SchedulerHand(try Self.manifest(["a.*": "a", "b": "b"]))
        Self.load(&hand, serial: ["a", "b"])
        for number in 0..<3 { try hand.submit(Submission(task: "a.\(number)")) }
        #expect(Self.tasks(hand) == ["a.0"])
        hand.reload(try Self.manifest(["a.*": "b", "b": "b"]))
        Self.load(&hand, serial: ["a", "b"])
        #expect(Self.tasks(hand) == ["a.0", "a.1"])
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.1"])
        try hand.end(after: 1)
        #expect(Self.tasks(hand) == ["a.2"])
    }
}
