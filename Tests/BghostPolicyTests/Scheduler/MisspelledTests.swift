// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// An identifier that no task has, where there are very many tasks: the answer is made on the thread that
/// holds limits.
@Suite struct MisspelledTests {
    private static func scheduler(tasks count: Int) throws -> Scheduler {
        var manifest = try SchedulerHand.manifest()
        manifest.tasks = try (0..<count).map { number in
            TaskDefinition(
                identifier: try #require(IdentifierPattern("com.example.report.daily.\(number)")),
                handler: .plugin(name: "plugin", handler: "report")
            )
        }
        return Scheduler(SchedulerHand.settings(manifest))
    }

    /// The work for the answer, and the answer.
    private static func work(_ scheduler: Scheduler, _ identifier: String) -> (
        Spelling.Budget, String?
    ) {
        var budget = Spelling.Budget()
        let near = scheduler.nearestName(to: identifier, within: &budget)
        return (budget, near)
    }

    @Test func `The work of a suggestion does not grow with the number of tasks`() throws {
        let few = try Self.scheduler(tasks: 5000)
        let many = try Self.scheduler(tasks: 100_000)
        let whole = Spelling.Budget()
        let near = "com.example.reprot.daily.4000"
        let far = "org.other.thing.weekly"
        let long = String(repeating: "x", count: 128)
        for identifier in [near, far, long, String(repeating: "x", count: 1 << 20), ""] {
            let (left, found) = Self.work(few, identifier)
            let (leftOfMany, foundInMany) = Self.work(many, identifier)
            #expect(left == leftOfMany && found == foundInMany)
            #expect(left.lookups >= 0 && left.candidates >= -1)
            // The last comparison may go beyond it, by two words of full length.
            #expect(left.pairs >= -2 * 128 * 128)
            #expect(left.lookups <= whole.lookups)
        }
        #expect(Self.work(many, near).1 == "com.example.report.daily.4000")
    }

    @Test func `Refusing a misspelled task costs no more than that`() throws {
        var scheduler = try Self.scheduler(tasks: 100_000)
        let now = Moment(monotonic: 1, unix: SchedulerHand.noon)
        for submitter in [Submitter.operator, .plugin("plugin")] {
            do throws(SubmitError) {
                let submission = Submission(task: "com.example.reprot.daily.99999")
                _ = try scheduler.accept(submission, by: submitter, now: now)
                Issue.record("no task has it")
            } catch {
                #expect(error.code == .notPermitted)
                let hint = "did you mean `com.example.report.daily.99999`?"
                #expect(error.message.contains(hint), "\(error.message)")
            }
        }
        #expect(scheduler.familyMembers(limit: 1).total == 0)
    }
}
