// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import BghostTestSupport
import Testing

/// The way of a submission into the store, with a store that the test answers, and without a process.
@Suite struct RequestIntakeTests {
    private final class Parts {
        let store = ScriptedStore()
        let dispatcher: Dispatcher
        let intake: RequestIntake

        init(_ reactor: Reactor) throws {
            let now = Moment(monotonic: 1, unix: 1_900_000_000_000_000_000)
            dispatcher = Dispatcher(SampleManifest.settings(), moment: { now }, recorder: nil)
            let commits = CommitQueue(store, reactor: reactor, log: HostLog(), deadLettersMax: 1)
            intake = RequestIntake(dispatcher, commits)
            dispatcher.decide { scheduler, now, _ in scheduler.setIncarnation(1, now: now) }
        }
    }

    /// A submission that waits for its date, so that nothing starts it.
    private static let later = Submission(
        task: "backup",
        earliestBegin: 1_900_000_001_000_000_000
    )

    @Test(.timeLimit(.minutes(5)))
    func `A request counts once it is stored`() async throws {
        try await ReactorActor.run { actor in
            let parts = try Parts(actor.reactor)
            let accepted = try #require(try parts.intake.check(Self.later))
            parts.intake.store(accepted)
            #expect(parts.dispatcher.scheduler.pending("backup") == nil)
            await parts.store.answerAll(.success(()))
            await ReactorActor.wait { parts.dispatcher.scheduler.pending("backup") != nil }
            #expect(parts.dispatcher.scheduler.pending("backup")?.id == accepted.request.id)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A request that follows from what has happened is retried by the store`() async throws {
        try await ReactorActor.run { actor in
            let parts = try Parts(actor.reactor)
            let accepted = try #require(try parts.intake.check(Self.later))
            parts.intake.store(accepted, onFailure: .retry)
            let commits = parts.store.commits
            #expect(commits.count == 1 && commits[0].onFailure == .retry)
            #expect(parts.dispatcher.scheduler.pending("backup") == nil)
            await parts.store.answerAll(.success(()))
            await ReactorActor.wait { parts.dispatcher.scheduler.pending("backup") != nil }
        }
    }

    @Test func `A request that the store refuses fails and leaves no state`()
        async throws
    {
        try await ReactorActor.run { actor in
            let parts = try Parts(actor.reactor)
            parts.store.answerAtOnce(.failure(StoreError("the disk is full", kind: .full)))
            await #expect(throws: SubmitError.self) {
                _ = try await parts.intake.submit(Self.later, isManual: false)
            }
            #expect(parts.dispatcher.scheduler.pending("backup") == nil)
            parts.store.answerAtOnce(.success(()))
            let accepted = try await parts.intake.submit(Self.later, isManual: false)
            #expect(!accepted.isEarlier)
        }
    }

    @Test func `A task that the manifest does not have is refused before the store is asked`()
        async throws
    {
        try await ReactorActor.run { actor in
            let parts = try Parts(actor.reactor)
            #expect(throws: SubmitError.self) {
                _ = try parts.intake.check(Submission(task: "other"))
            }
            #expect(parts.store.take().isEmpty)
        }
    }

    /// What a plugin or a notification submits meanwhile is no part of an operator's verb.
    @Test func `Only the request of the verb has its row`() async throws {
        try await ReactorActor.run { actor in
            let parts = try Parts(actor.reactor)
            parts.store.answerAtOnce(.success(()))
            let verb = AuditEntry(at: 1, AuditActor(.socket), verb: "trigger", status: .unchanged)
            let scope = AuditScope(verb)
            try await AuditScope.$current.withValue(scope) {
                let other = try #require(try parts.intake.check(Self.later))
                parts.intake.store(other)
                #expect(!scope.isStored)
                _ = try await parts.intake.submit(Self.later, isManual: true)
                #expect(scope.isStored)
            }
        }
    }
}
