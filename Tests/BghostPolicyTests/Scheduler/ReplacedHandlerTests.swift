// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import Testing

/// Handlers whose plugin is replaced while a run of theirs is in progress.
@Suite struct ReplacedHandlerTests {
    private typealias Hand = SchedulerHand

    /// A manifest of tasks that all have the handler `h` of one plugin.
    private static func manifest(_ tasks: String...) throws -> Manifest {
        var manifest = try Hand.manifest()
        manifest.tasks = try tasks.map {
            TaskDefinition(
                identifier: try #require(IdentifierPattern($0)),
                handler: .plugin(name: "plugin", handler: "h")
            )
        }
        return manifest
    }

    /// The plugin in the manifest is loaded.
    private static func load(_ hand: inout Hand, serial: [String]) throws {
        let plugin = try #require(hand.scheduler.catalog.currentPlugins["plugin"])
        hand.perform { $0.pluginLoaded(plugin, serial: serial, now: $1, &$2) }
    }

    @Test(arguments: [true, false])
    func `A serial handler has one run over a replaced library`(isLoaded: Bool) throws {
        let manifest = try Self.manifest("a", "b", "c")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: ["h"])
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        #expect(hand.running == ["a"])
        hand.reload(manifest, replacing: ["plugin"])
        if isLoaded { try Self.load(&hand, serial: ["h"]) }
        try hand.submit(Submission(task: "c"))
        #expect(hand.running == ["a"])
        #expect(hand.closed("c") == [.handler])
        #expect(hand.gate(.handler, of: "c")?.ids == hand.begun.map(\.record.id))
        try hand.end(after: 1)
        #expect(hand.running == ["b"])
        try hand.end(after: 1)
        #expect(hand.running == ["c"])
        try hand.end(after: 1)
        #expect(hand.pending.isEmpty)
    }

    @Test func `A handler that shares goes on while runs of the former version end`() throws {
        let manifest = try Self.manifest("a", "b", "c")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: [])
        try hand.submit(Submission(task: "a"))
        hand.reload(manifest, replacing: ["plugin"])
        try hand.submit(Submission(task: "b"))
        #expect(hand.running == ["a", "b"])
        // It is the first run of the new version, of which nothing is known yet.
        try hand.submit(Submission(task: "c"))
        #expect(hand.running == ["a", "b"])
        try Self.load(&hand, serial: [])
        #expect(hand.running == ["a", "b", "c"])
    }

    @Test func `A handler that becomes serial waits for all runs of the former version`() throws {
        let manifest = try Self.manifest("a", "b", "c")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: [])
        try hand.submit(Submission(task: "a"))
        try hand.submit(Submission(task: "b"))
        hand.reload(manifest, replacing: ["plugin"])
        try Self.load(&hand, serial: ["h"])
        try hand.submit(Submission(task: "c"))
        try hand.end(after: 1)
        #expect(hand.running == ["b"])
        try hand.end(after: 1)
        #expect(hand.running == ["c"])
    }

    @Test func `A plugin that was removed and is back waits for its former run`() throws {
        let manifest = try Self.manifest("a", "b")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: ["h"])
        try hand.submit(Submission(task: "a"))
        hand.reload(Manifest())
        hand.reload(Manifest())
        hand.reload(manifest)
        try Self.load(&hand, serial: ["h"])
        try hand.submit(Submission(task: "b"))
        #expect(hand.running == ["a"])
        try hand.end(after: 1)
        #expect(hand.running == ["b"])
    }

    @Test func `Another plugin with a handler of the name does not wait`() throws {
        let manifest = try Self.manifest("a", "b")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: ["h"])
        try hand.submit(Submission(task: "a"))
        // The run now has the handler of the second version, which is removed with its plugin.
        hand.reload(manifest, replacing: ["plugin"])
        var other = manifest
        other.plugins[0].name = "other"
        other.tasks = other.tasks.map {
            var task = $0
            task.handler = .plugin(name: "other", handler: "h")
            return task
        }
        for _ in 0..<3 { hand.reload(other, replacing: ["other"]) }
        try hand.submit(Submission(task: "b"))
        #expect(hand.running == ["a", "b"])
        try hand.end(after: 1)
        try hand.end(after: 1)
        hand.reload(manifest)
        #expect(hand.scheduler.gates.handlers.allSatisfy { $0.running == 0 })
        try hand.submit(Submission(task: "a"))
        #expect(hand.running == ["a"])
    }

    /// What waits must neither be lost nor start twice when its queue is taken over.
    @Test func `All that waits for the handler begins, one run after the other`() throws {
        let manifest = try Self.manifest("a.*")
        var hand = Hand(manifest)
        try Self.load(&hand, serial: ["h"])
        for number in 0..<20 { try hand.submit(Submission(task: "a.\(number)")) }
        for number in 0..<20 {
            #expect(hand.running == ["a.\(number)"])
            hand.reload(manifest, replacing: ["plugin"])
            if number % 2 == 0 { try Self.load(&hand, serial: ["h"]) }
            #expect(hand.running == ["a.\(number)"])
            try hand.end(after: 1)
        }
        #expect(hand.pending.isEmpty && hand.begun.isEmpty)
    }
}
