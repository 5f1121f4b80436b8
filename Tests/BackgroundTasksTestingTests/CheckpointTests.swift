// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Testing

/// Checkpoints of handlers in the test host.
@Suite(.timeLimit(.minutes(5)))
struct CheckpointTests {
    struct Place: Codable, Equatable {
        var page: Int
        var cursor: String
    }

    private func host(_ handler: Handler, attempts: Int = 5) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.checkpoint", version: "1") { handler },
            tasks: """
                {"version": 1, "plugins": {"p": {"library": "p.so"}},
                 "tasks": {"t": {"plugin": "p", "handler": "a",
                           "retry": {"policy": "exponential", "base": "1s", "max": \(attempts)}}}}
                """
        )
    }

    /// Goes on to the next page in each attempt, and fails until there are three.
    private let pages = Handler("a") { context in
        var place =
            try await context.savedCheckpoint(as: Place.self) ?? Place(page: 0, cursor: "")
        place.page += 1
        place.cursor += "é"
        try await context.checkpoint(place)
        if place.page < 3 { throw RetryLater("once more") }
        return place.cursor
    }

    @Test func `The next attempt gets the value, and the next request does not`() async throws {
        let host = try host(pages)
        for _ in 1...2 {
            try await host.submit("t")
            let waiting = try #require(host.pending.first)
            let saved = try JSONDecoder().decode(Place.self, from: waiting.checkpoint ?? Data())
            #expect(saved == Place(page: 1, cursor: "é"))
            try await host.advance(by: .seconds(60))
            #expect(host.runs.last?.outcome == .succeeded && host.runs.last?.attempt == 3)
            #expect(try host.runs.last?.result(as: String.self) == "ééé")
        }
        #expect(host.runs.count == 6 && host.pending.isEmpty)
    }

    @Test func `A dead letter keeps its checkpoint`() async throws {
        let host = try host(pages, attempts: 2)
        try await host.submit("t")
        try await host.advance(by: .seconds(60))
        let letter = try #require(host.deadLetters.first)
        let saved = try JSONDecoder().decode(Place.self, from: letter.checkpoint ?? Data())
        #expect(saved.page == 2)
    }

    @Test func `Bytes come back as they are, up to 64 KiB`() async throws {
        let most = TaskContext.checkpointBytesMax
        let host = try host(
            Handler("a") { context in
                #expect(try await context.savedCheckpointBytes() == nil)
                let bytes = Data((0..<most).map { UInt8(truncatingIfNeeded: $0 * 31) })
                try await context.checkpoint(bytes)
                let error = await #expect(throws: CheckpointError.self) {
                    try await context.checkpoint(bytes + Data([1]))
                }
                #expect(error?.code == .limitExceeded)
                // What was saved before is kept.
                #expect(try await context.savedCheckpointBytes() == bytes)
                try await context.deleteCheckpoint()
                #expect(try await context.savedCheckpointBytes() == nil)
            }
        )
        try await host.submit("t")
        #expect(host.runs.first?.outcome == .succeeded, "\(host.runs)")
    }

    @Test func `A value of another type is refused by name`() async throws {
        let host = try host(
            Handler("a") { context in
                try await context.checkpoint(["page": "two"])
                let error = await #expect(throws: MismatchError.self) {
                    try await context.savedCheckpoint(as: Place.self)
                }
                #expect(error?.description.hasPrefix("checkpoint: `page` is not") == true)
                // Values that are no objects are JSON, too.
                try await context.checkpoint(42)
                #expect(try await context.savedCheckpoint(as: Int.self) == 42)
            }
        )
        try await host.submit("t")
        #expect(host.runs.first?.outcome == .succeeded, "\(host.runs)")
    }

    @Test func `A cancelled run can save, and a run that is over cannot`() async throws {
        let (contexts, kept) = AsyncStream<TaskContext>.makeStream()
        let host = try host(
            Handler("a") { context in
                guard try await context.savedCheckpoint(as: String.self) == nil else { return }
                kept.yield(context)
                do {
                    try await context.sleep(for: .seconds(3600))
                } catch {
                    try await context.checkpoint("cancelled")
                    throw error
                }
            }
        )
        try await host.submit("t")
        try await host.advance(by: .seconds(600))
        #expect(host.runs.map(\.outcome) == [.cancelled, .succeeded])
        for await context in contexts.prefix(1) {
            let error = await #expect(throws: CheckpointError.self) {
                try await context.checkpoint("late")
            }
            #expect(error?.code == .unavailable)
        }
    }
}
