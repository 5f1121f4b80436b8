// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPolicy
@testable import BghostServices
@testable import BghostStore
import Testing

/// The owner of the audit, with a store that the test answers, and without a process.
@Suite struct AuditCommandsTests {
    private struct Owners {
        let commits: CommitQueue
        let audit: AuditCommands
        let deadlines: Deadlines
        let log: HostLog

        init(
            _ store: any Store,
            _ reactor: Reactor,
            _ settings: AuditSettings,
            rowWait: UInt64 = AuditCommands.rowWait
        ) throws {
            log = HostLog()
            deadlines = Deadlines(reactor)
            commits = CommitQueue(
                store,
                reactor: reactor,
                log: log,
                deadLettersMax: 10,
                audit: settings
            )
            let history = HistoryReader(store, BlockingThreads(), spawner: try Spawner())
            audit = AuditCommands(
                commits,
                history,
                DaemonClock(reactor),
                deadlines,
                log: log,
                rowWait: rowWait
            ) { .utc }
            commits.begin(mayBlock: { false }, onPressure: { _ in })
        }

        func events() -> [String] {
            log.entries(matching: LogFilter(), limit: 100).map(\.event)
        }
    }

    private static func entry(_ verb: String = "disable", uid: UInt32 = 7) -> AuditEntry {
        AuditEntry(at: 1, AuditActor(.socket, uid: uid), verb: verb, status: .unchanged)
    }

    private static let full = StoreHealth(
        failure: .init(since: 1, error: StoreError("no space", kind: .full), isFinal: false)
    )

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `Without room a verb is refused if the audit is required`(isRequired: Bool) async throws {
        let store = ScriptedStore()
        try await ReactorActor.run { actor in
            let owners = try Owners(store, actor.reactor, AuditSettings(isRequired: isRequired))
            try owners.audit.require()
            await store.setHealth(Self.full)
            var refusals = 0
            do throws(OperatorRefusal) { try owners.audit.require() } catch {
                refusals += 1
                #expect(error.code == .auditFailed && error.message.contains("no space"))
            }
            store.answerAtOnce(.failure(StoreError("no space", kind: .full)))
            do { try await owners.audit.note(Self.entry()) } catch { refusals += 1 }
            #expect(refusals == (isRequired ? 2 : 0))
            #expect(owners.events().contains("audit.failed"))
            // Refusals take no memory while nothing can be stored.
            _ = store.take()
            owners.audit.noteBounded(Self.entry().with(.refused))
            #expect(store.take().isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A row is in the transaction of its change, and only of the verb's`() async throws {
        let store = ScriptedStore()
        store.answerAtOnce(.success(()))
        try await ReactorActor.run { actor in
            let owners = try Owners(store, actor.reactor, AuditSettings())
            let change = StoreChange.switched(plugin: "p", off: "x")
            #expect(owners.commits.audited([change]).count == 1, "no verb is under way")
            let scope = AuditScope(Self.entry())
            try await AuditScope.$current.withValue(scope) {
                #expect(owners.commits.audited([]).isEmpty)
                try await owners.commits.store([change], "it is done")
            }
            #expect(scope.isStored)
            let submission = AuditScope(Self.entry("submit"), isSubmission: true)
            AuditScope.$current.withValue(submission) {
                #expect(owners.commits.audited([.discarded(RunID(high: 1, low: 1))]).count == 1)
            }
            let policy = HistoryPolicy(audit: AuditSettings(notesSubmissions: true))
            owners.commits.keep(history: policy)
            let many = (0..<10).map { StoreChange.discarded(RunID(high: 1, low: $0)) }
            AuditScope.$current.withValue(submission) {
                #expect(owners.commits.audited(many).count == 11)
                guard case .audited(let entry) = owners.commits.audited(many).last else { return }
                #expect(entry.status == .stored)
                #expect(entry.refs.hasSuffix(" +2") && entry.refs.split(separator: " ").count == 9)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A flood of refusals leaves few rows, with the number of those left out`() async throws {
        let store = MemoryStore()
        try await ReactorActor.run { actor in
            let owners = try Owners(store, actor.reactor, AuditSettings())
            for _ in 0..<5000 {
                owners.audit.noteBounded(Self.entry().with(.refused, code: "BG2110"))
            }
            for _ in 0..<3 { owners.audit.noteBounded(Self.entry(uid: 8).with(.refused)) }
            let rows = store.audit(AuditQuery(limit: 1000)).rows
            #expect(rows.count == 23)
            #expect(rows.map(\.entry.refs).filter { !$0.isEmpty } == ["dropped:4980"])
            // A login is still seen, and a flood of logins is bounded too.
            for _ in 0..<500 { owners.audit.noteBounded(Self.entry("login").with(.done)) }
            #expect(store.audit(AuditQuery(limit: 1000)).rows.count == 43)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `The head goes to the log an hour after a row, and not without a new one`() async throws {
        let store = MemoryStore()
        try await ReactorActor.run { actor in
            let owners = try Owners(store, actor.reactor, AuditSettings())
            let before = actor.reactor.deadline
            #expect(owners.deadlines.count == 0)
            for _ in 0..<100 { owners.audit.noteLater(Self.entry()) }
            #expect(owners.deadlines.count == 1, "one deadline for all rows")
            let deadline = actor.reactor.deadline
            #expect(before == .never && owners.audit.isLive(.auditHead, deadline))
            #expect(deadline >= MonotonicInstant.zero + AuditCommands.headPeriod)
            owners.audit.deadlinePassed(.auditHead)
            #expect(!owners.audit.isLive(.auditHead, deadline))
            await ReactorActor.wait { owners.events().contains("audit.head") }
            let head = try #require(store.auditHead())
            let line = owners.log.entries(matching: LogFilter(), limit: 100).last?.message
            #expect(head.seq == 100 && line == "the audit ends with row \(head.text)")
        }
    }
    @Test(.timeLimit(.minutes(5)))
    func `A question waits for the row of the start, but not without bound`() async throws {
        let store = MemoryStore()
        try await ReactorActor.run { actor in
            // Each wait is late in the turn after it.
            let owners = try Owners(store, actor.reactor, AuditSettings(), rowWait: 0)
            let question = AuditQuestion(AuditQuery(limit: 9))
            func passDeadlines() {
                owners.deadlines.handleDue(now: actor.reactor.now) {
                    owners.audit.deadlinePassed($0)
                }
            }
            owners.audit.startNoteBegan()
            let late = Task {
                _ = actor
                return try await owners.audit.rows(question)
            }
            await ReactorActor.wait { owners.deadlines.count == 1 }
            passDeadlines()
            let refusal = await #expect(throws: OperatorRefusal.self) { _ = try await late.value }
            #expect(refusal?.code == .unavailable)
            #expect(refusal?.message.contains("the store does not answer") == true)
            let early = Task {
                _ = actor
                return try await owners.audit.rows(question)
            }
            await ReactorActor.wait { owners.deadlines.count == 1 }
            owners.audit.noteLater(Self.entry("start").with(.done))
            owners.audit.startNoteEnded()
            #expect(try await early.value.rows.map(\.entry.verb) == ["start"])
            passDeadlines()
            #expect(try await owners.audit.rows(question).rows.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `The end of a verb does not wait without bound for its row`() async throws {
        let store = ScriptedStore()
        try await ReactorActor.run { actor in
            let owners = try Owners(store, actor.reactor, AuditSettings(), rowWait: 0)
            let end = Task {
                _ = actor
                await owners.audit.noteEnd(Self.entry().with(.done))
            }
            await ReactorActor.wait { !store.commits.isEmpty && owners.deadlines.count == 2 }
            owners.deadlines.handleDue(now: actor.reactor.now) {
                owners.audit.deadlinePassed($0)
            }
            await end.value
            // It is not given up.
            #expect(store.commits.count == 1)
            await store.answerAll(.success(()))
        }
    }
}
