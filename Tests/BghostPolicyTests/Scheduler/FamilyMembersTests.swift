// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import BghostTestSupport
import Testing

/// Identifiers of families, of which there may be very many.
@Suite struct FamilyMembersTests {
    private static func scheduler(used count: Int) throws -> Scheduler {
        var manifest = try SchedulerHand.manifest()
        manifest.plugins[0].maxPending = PendingLimits(refresh: count + 2, processing: count + 2)
        manifest.tasks = try ["report.*", "report.own", "backup"].map { pattern in
            TaskDefinition(
                identifier: try #require(IdentifierPattern(pattern)),
                handler: .plugin(name: "plugin", handler: "report")
            )
        }
        var scheduler = Scheduler(SchedulerHand.settings(manifest))
        let now = Moment(monotonic: 1, unix: SchedulerHand.noon)
        for name in ["report.own"] + (0..<count).map({ "report.\($0)" }) + ["backup"] {
            let submission = Submission(task: name, earliestBegin: now.unix + 1_000_000_000)
            let accepted = try #require(try scheduler.accept(submission, now: now))
            var effects: [SchedulerEffect] = []
            scheduler.finishSubmission(accepted, isStored: true, now: now, &effects)
        }
        return scheduler
    }

    @Test func `The latest members are listed first, without tasks with their own section`() throws
    {
        let scheduler = try Self.scheduler(used: 5)
        let all = scheduler.familyMembers(limit: 10)
        #expect(all.identifiers == (0..<5).reversed().map { "report.\($0)" })
        #expect(all.total == 5)
        let some = scheduler.familyMembers(limit: 2)
        #expect(some.identifiers == ["report.4", "report.3"] && some.total == 5)
        #expect(try Self.scheduler(used: 0).familyMembers(limit: 2).total == 0)
    }

    @Test func `A hundred thousand are counted and not listed`() throws {
        let scheduler = try Self.scheduler(used: 100_000)
        let some = scheduler.familyMembers(limit: 3)
        #expect(some.identifiers == ["report.99999", "report.99998", "report.99997"])
        #expect(some.total == 100_000)
        // The work: one lookup for each of these, and for each task of the manifest.
        #expect(scheduler.recentMembers.latestFirst.count == 256)
    }
}
