// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport
import Testing

/// Submissions that make no sense, or too many of them: each has an answer, and nothing is lost by it.
@Suite struct BadSubmissionTests {
    private static let tasks = ["task", "family.*"].map { World.task($0) }

    private func submit(_ submission: Submission) -> (SubmitErrorCode?, World) {
        var world = World(seed: 1, tasks: Self.tasks)
        do throws(SubmitError) {
            try world.simulation.submit(submission)
            return (nil, world)
        } catch {
            // A short message without control characters, however long the submitted text is.
            #expect(error.message.utf8.count < 1000 && !error.message.isEmpty)
            #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 })
            return (error.code, world)
        }
    }

    @Test(arguments: [
        "{\"a\":NaN}", "{\"a\":-}", "{\"a\":1e}", "[1]", "1", "", "{", "{\"a\":1}{",
        "{\"a\":1,\"a\":2}", "\u{0}{}", "{\"a\":\"\u{0}\"}",
        String(repeating: "[", count: 60_000),
    ])
    func `Parameters that are no object are refused`(text: String) {
        #expect(submit(Submission(task: "task", parameters: text)).0 == .badParameters)
    }

    @Test(arguments: [64 << 10 + 1, 10 << 20])
    func `Parameters that are too long are refused`(bytes: Int) {
        let text = "{\"a\":\"" + String(repeating: "x", count: bytes - 8) + "\"}"
        #expect(submit(Submission(task: "task", parameters: text)).0 == .payloadTooLarge)
    }

    @Test(arguments: [
        "", "*", "task.*", "family.*", "family.", "family..a", "Task", "task ", "task\n",
        "t\u{1B}[31mask", "\u{202E}ksat", String(repeating: "x", count: 1 << 20),
        "family." + String(repeating: "x", count: 1 << 20),
    ])
    func `Identifiers outside the manifest are refused`(identifier: String) {
        #expect(submit(Submission(task: identifier)).0 == .notPermitted)
    }

    /// The ends of time and what lies beyond: years 1677 to 2262 are all that there is.
    @Test(arguments: [Int64.min, -1, 0, 1, World.start - 1, World.start])
    func `Dates in the past are due at once`(date: Int64) {
        var (code, world) = submit(Submission(task: "task", earliestBegin: date))
        #expect(code == nil)
        world.simulation.run(for: World.second)
        #expect(world.simulation.counts["task"]?.runs == 1)
    }

    @Test(arguments: [World.start + 200 * 365 * World.day, Int64.max - 1, Int64.max])
    func `Dates of the far future wait`(date: Int64) {
        var (code, world) = submit(Submission(task: "task", earliestBegin: date, tolerance: .max))
        #expect(code == nil)
        world.simulation.run(for: 365 * World.day)
        #expect(world.simulation.counts["task"] == nil)
        #expect(world.simulation.scheduler.requests(of: "task").count == 1)
        #expect(world.simulation.faults == [])
    }

    @Test(arguments: [Int64.min, 0, World.start - 1])
    func `A latest date of the past is refused`(date: Int64) {
        #expect(submit(Submission(task: "task", latestBegin: date)).0 == .pastLatestBegin)
    }

    @Test func `A latest date before the earliest is refused`() {
        let (code, _) = submit(
            Submission(
                task: "task",
                earliestBegin: World.start + 2,
                latestBegin: World.start + 1
            )
        )
        #expect(code == .pastLatestBegin)
    }

    @Test(arguments: [Int.min, -1, 0, 1000, 1001, .max])
    func `Priorities are clamped`(priority: Int) throws {
        let (code, world) = submit(
            Submission(task: "task", earliestBegin: .max, priority: priority)
        )
        #expect(code == nil)
        let request = try #require(world.simulation.scheduler.pending("task"))
        #expect((0...1000).contains(request.priority))
    }

    /// One handler that submits as fast as it can: what it may have pending is bounded, each
    /// submission is answered, and the work does not grow with what was submitted before.
    @Test(.timeLimit(.minutes(5)))
    func `A hundred thousand submissions are answered one by one`() {
        var world = World(seed: 1, tasks: Self.tasks)
        var refused = 0
        for number in 0..<100_000 {
            let submission = Submission(
                task: number.isMultiple(of: 2) ? "task" : "family.\(number)",
                earliestBegin: World.start + World.day
            )
            do throws(SubmitError) {
                try world.simulation.submit(submission, by: .run(RunID(high: 0, low: 1)))
            } catch {
                #expect(error.code == .tooManyPendingTaskRequests)
                refused += 1
            }
        }
        // 100 may be pending for the plugin; the task itself replaces its own.
        #expect(world.simulation.scheduler.requests(of: nil).count == 100)
        #expect(refused == 50_000 - 99)
        #expect(world.simulation.ledger.isBalanced)
        #expect(world.simulation.faults == [])
    }
}
