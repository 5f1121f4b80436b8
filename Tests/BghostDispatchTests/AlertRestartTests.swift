// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
import BghostTestSupport
import Testing

private let second: Int64 = 1_000_000_000
private let start = AlertOwnersFixture.start

/// What a daemon makes of the alerts of the one before, and of those of another manifest.
@Suite struct AlertRestartTests {
    private static func row(_ rule: AlertRule, _ subject: String) -> AlertRow {
        AlertRow(
            key: AlertKey(rule, subject),
            since: start - second,
            detail: "before",
            toldAt: start - second / 2
        )
    }

    private static func family(_ expectation: TaskExpectation) throws -> Manifest {
        let identifier = try #require(IdentifierPattern("job.*"))
        return try AlertOwnersFixture.manifest {
            $0.identifier = identifier
            $0.expect = expectation
        }
    }

    @Test(arguments: [(100, true), (200, false)] as [(Int64, Bool)])
    func `A task without success stays one over a restart, unless more time is expected`(
        every: Int64,
        isOverdue: Bool
    ) async throws {
        let manifest = try AlertOwnersFixture.manifest {
            $0.expect = TaskExpectation(every: .seconds(every))
        }
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            // Later successes need not be stored for a second.
            let success = start - 100 * second - second / 2
            owners.alerts.monitor.recover(
                [Self.row(.noSuccess, "backup")],
                [TaskProgress(task: "backup", since: success - second, lastSuccess: success)]
            )
            owners.begin(manifest)
            let fires = owners.alerts.report.alerts.map(\.rule)
            #expect(fires == (isOverdue ? ["no-success"] : []))
            #expect(owners.events().contains("alert.resolved") == !isOverdue)
            #expect(owners.titles(AlertOwnersFixture.hook).isEmpty)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A restart ends what it does not find again, and the log says so`() async throws {
        let manifest = try AlertOwnersFixture.manifest()
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.alerts.monitor.recover([Self.row(.longRun, "backup")], [])
            owners.begin(manifest)
            #expect(owners.alerts.report.alerts.isEmpty)
            #expect(owners.events().contains("alert.resolved"))
            owners.pass(10)
            await ReactorActor.wait { !owners.titles(AlertOwnersFixture.hook).isEmpty }
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A member of a family that is late stays so over a restart`() async throws {
        let manifest = try Self.family(TaskExpectation(start: .seconds(60)))
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.setProblem("gone")
            let made = try owners.intake.check(Submission(task: "job.1"))
            owners.intake.store(try #require(made))
            owners.wall.move(100)
            owners.alerts.monitor.recover([Self.row(.lateStart, "job.*")], [])
            owners.begin(manifest)
            #expect(owners.alerts.report.alerts.map(\.rule) == ["late-start"])
            #expect(!owners.events().contains("alert.resolved"))
            owners.setProblem(nil)
            owners.pass(60)
            #expect(owners.alerts.report.alerts.isEmpty)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A late request that is cancelled ends its alert at once`() async throws {
        let manifest = try AlertOwnersFixture.manifest {
            $0.expect = TaskExpectation(start: .seconds(60))
        }
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            owners.setProblem("gone")
            let made = try owners.intake.check(Submission(task: "backup"))
            owners.intake.store(try #require(made))
            owners.pass(60)
            #expect(owners.alerts.report.alerts.map(\.rule) == ["late-start"])
            let (withdrawn, _) = owners.dispatcher.propose { scheduler, now, effects in
                scheduler.withdrawAll(of: ["backup"], now: now, &effects)
            }
            owners.commits.commit(withdrawn.changes)
            #expect(owners.alerts.report.alerts.isEmpty)
            owners.alerts.stop()
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `Dead letters count for the task that a reload gives their identifier`() async throws {
        let manifest = try Self.family(TaskExpectation(failures: 2))
        let identifier = try #require(IdentifierPattern("job.1"))
        try await ReactorActor.run { actor in
            let owners = try AlertOwnersFixture(actor.reactor, manifest)
            owners.begin(manifest)
            let made = try owners.intake.check(Submission(task: "job.1"))
            let request = try #require(made).request
            var record = RunRecord(
                id: RunID(high: 1, low: 1),
                request: request.id,
                task: "job.1",
                plugin: "plugin",
                limits: RunLimits(kind: .refresh),
                submittedAt: start
            )
            record.outcome = .failed
            owners.commits.commit([.runEnded(record, then: .dead(request, reason: "x"))])
            #expect(owners.alerts.report.alerts.map(\.subject) == ["job.*"])
            var other = manifest
            var task = manifest.tasks[0]
            task.identifier = identifier
            other.tasks.append(task)
            owners.reload(other)
            #expect(owners.alerts.report.alerts.map(\.subject) == ["job.1"])
            owners.alerts.stop()
        }
    }
}
