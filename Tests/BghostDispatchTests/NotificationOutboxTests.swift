// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostModel
@testable import BghostNotify
import BghostPolicy
import Testing

/// The owner of the notifications, without a daemon and without a process.
@Suite struct NotificationOutboxTests {
    private static let second: Int64 = 1_000_000_000
    private static let now: Int64 = 1_700_000_000 * second
    private static let request = RunID(high: 1, low: 1)

    private struct Delivery: Equatable {
        var key: RunID
        var task: String
        var idempotencyKey: String?
    }

    private static func settings() throws -> NotificationSettings {
        NotificationSettings(task: try #require(IdentifierPattern("tell.*")))
    }

    private func makeOutbox() throws -> NotificationOutbox {
        NotificationOutbox(try Self.settings())
    }

    /// Posts a notification, and stores it.
    private func post(_ outbox: NotificationOutbox, _ content: NotificationContent) throws
        -> NotificationOutbox.Accepted
    {
        let accepted = try outbox.accept(content, of: "photos", zone: .utc, now: Self.now)
        #expect(outbox.stored(accepted, isStored: true, now: Self.now).isEmpty)
        return accepted
    }

    /// The deliveries that are due.
    private func deliveries(_ outbox: NotificationOutbox, now: Int64 = now) throws -> [Delivery] {
        // As the host does when a date has come.
        outbox.compareDates()
        var deliveries: [Delivery] = []
        while let effects = outbox.advance(now: now) {
            for case .deliver(let key, let task, let parameters) in effects {
                let json = try JSONReader.parse(parameters)
                deliveries.append(
                    Delivery(key: key, task: task, idempotencyKey: json["key"]?.string)
                )
            }
        }
        return deliveries
    }

    private func record(_ outcome: Outcome, message: String = "") -> RunRecord {
        RunRecord(
            id: RunID(high: 2, low: 2),
            request: Self.request,
            task: "tell.1",
            plugin: "notifier",
            outcome: outcome,
            message: message,
            limits: RunLimits(kind: .refresh),
            submittedAt: Self.now
        )
    }

    private func events(_ effects: [OutboxEffect]) -> [OutboxEffect.Note.Event] {
        effects.compactMap { if case .note(let note) = $0 { note.event } else { nil } }
    }

    /// The rows that effects store.
    private func rows(_ effects: [OutboxEffect]) -> [NotificationRow] {
        effects.compactMap { if case .store(.kept(let row)) = $0 { row } else { nil } }
    }

    @Test func `A notification is delivered once, after it is stored`() throws {
        let outbox = try makeOutbox()
        let content = NotificationContent(id: "a", title: "A")
        let accepted = try outbox.accept(content, of: "photos", zone: .utc, now: Self.now)
        #expect(try deliveries(outbox).isEmpty)
        _ = outbox.stored(accepted, isStored: true, now: Self.now)
        let due = try deliveries(outbox)
        #expect(due.map(\.key) == [accepted.row.key])
        #expect(due.first?.idempotencyKey == accepted.row.idempotencyKey)
        #expect(due.first?.task.hasPrefix("tell.") == true)
        outbox.submitted(accepted.row.key, request: Self.request)
        #expect(outbox.isUnderWay(accepted.row.key))
        #expect(try deliveries(outbox).isEmpty)
        let effects = outbox.ended(record(.succeeded), isRetried: false, now: Self.now)
        #expect(events(effects) == [.delivered])
        #expect(rows(effects).map(\.state) == [.delivered])
        #expect(try deliveries(outbox, now: Self.now + 60 * Self.second).isEmpty)
    }

    @Test func `A notification that could not be stored is not delivered`() throws {
        let outbox = try makeOutbox()
        let content = NotificationContent(id: "a", title: "A")
        let accepted = try outbox.accept(content, of: "photos", zone: .utc, now: Self.now)
        _ = outbox.stored(accepted, isStored: false, now: Self.now)
        #expect(try deliveries(outbox).isEmpty)
        #expect(outbox.statuses.isEmpty)
        #expect(outbox.pending(of: "photos") == "[]")
    }

    @Test func `The delay that a handler requests holds for its own failure only`() throws {
        let outbox = try makeOutbox()
        let accepted = try post(outbox, NotificationContent(id: "a", title: "A"))
        _ = try deliveries(outbox)
        // No delivery has this request yet, so the delay belongs to something else.
        outbox.noteRetry(of: Self.request, after: 1)
        outbox.submitted(accepted.row.key, request: Self.request)
        outbox.noteRetry(of: Self.request, after: UInt64(90 * Self.second))
        let first = outbox.ended(record(.failed, message: "busy"), isRetried: false, now: Self.now)
        #expect(events(first) == [.failed])
        #expect(rows(first).map(\.notBefore) == [Self.now + 90 * Self.second])
        #expect(rows(first).map(\.fault) == ["failed: busy"])
        #expect(try deliveries(outbox).isEmpty)
        #expect(outbox.nextDate == Self.now + 90 * Self.second)

        let later = Self.now + 90 * Self.second
        #expect(try deliveries(outbox, now: later).count == 1)
        outbox.submitted(accepted.row.key, request: Self.request)
        let second = outbox.ended(record(.failed), isRetried: false, now: later)
        let wait = try #require(rows(second).first).notBefore - later
        // The second failure waits 10 s, and up to a quarter more.
        #expect((10 * Self.second...13 * Self.second).contains(wait))
    }

    @Test func `A delivery run that its retry policy repeats is not final`()
        throws
    {
        let outbox = try makeOutbox()
        let accepted = try post(outbox, NotificationContent(id: "a", title: "A"))
        _ = try deliveries(outbox)
        var isAsked = false
        func isRetried() -> Bool {
            isAsked = true
            return true
        }
        #expect(outbox.ended(record(.failed), isRetried: isRetried(), now: Self.now).isEmpty)
        #expect(!isAsked)
        outbox.submitted(accepted.row.key, request: Self.request)
        #expect(outbox.ended(record(.failed), isRetried: isRetried(), now: Self.now).isEmpty)
        #expect(isAsked && outbox.isUnderWay(accepted.row.key))
    }

    @Test func `A delivery without a run is tried again`() throws {
        let outbox = try makeOutbox()
        let accepted = try post(outbox, NotificationContent(id: "a", title: "A"))
        _ = try deliveries(outbox)
        outbox.submitted(accepted.row.key, request: Self.request)
        let effects = outbox.withdrawn(Self.request, now: Self.now)
        #expect(rows(effects).map(\.fault) == ["it was withdrawn"])
        #expect(outbox.withdrawn(Self.request, now: Self.now).isEmpty)
        #expect(!outbox.isUnderWay(accepted.row.key))
    }

    @Test func `Only the plugin itself can withdraw its undelivered notification`() throws {
        let outbox = try makeOutbox()
        _ = try post(outbox, NotificationContent(id: "a", title: "A"))
        #expect(outbox.withdraw("b", of: "photos") == nil)
        #expect(outbox.withdraw("a", of: "weather") == nil)
        #expect(outbox.withdraw("a", of: "photos")?.isEmpty == false)
        #expect(outbox.withdraw("a", of: "photos") == nil)
        #expect(try deliveries(outbox).isEmpty)
    }

    @Test func `After a restart, a submitted delivery is not submitted again`() throws {
        let first = try makeOutbox()
        let accepted = try post(first, NotificationContent(id: "a", title: "A"))
        var effects: [OutboxEffect] = []
        while let more = first.advance(now: Self.now) { effects += more }
        let parameters = try #require(
            effects.compactMap {
                if case .deliver(_, _, let parameters) = $0 { parameters } else { nil }
            }.first
        )
        let request = Request(
            id: Self.request,
            task: "tell.1",
            parameters: parameters,
            submittedAt: Self.now,
            priority: 0
        )
        let others = Request(
            id: RunID(high: 3, low: 3),
            task: "tell.2",
            parameters: "an operator wrote this",
            submittedAt: Self.now,
            priority: 0
        )
        let second = try makeOutbox()
        #expect(
            second.recover([accepted.row], [others, request], zone: .utc, now: Self.now).isEmpty
        )
        #expect(try deliveries(second).isEmpty)
        #expect(second.isUnderWay(accepted.row.key))

        let without = try makeOutbox()
        #expect(without.recover([accepted.row], [], zone: .utc, now: Self.now).isEmpty)
        #expect(try deliveries(without).map(\.key) == [accepted.row.key])
    }

    @Test
    func `A zone that the system lacks after a restart costs the repetition, not the delivery`()
        throws
    {
        let content = NotificationContent(id: "a", title: "A", calendar: "0 12 * * *")
        var row = try post(try makeOutbox(), content).row
        row.content.timeZone = "Nowhere/Sunken"
        let outbox = try makeOutbox()
        let lost = outbox.recover([row], [], zone: .utc, now: Self.now)
        #expect(lost.map(\.plugin) == ["photos"])
        #expect(lost.first?.fault.description.contains("`Nowhere/Sunken`") == true)
        #expect(try deliveries(outbox, now: row.due).map(\.key) == [row.key])
    }

    @Test func `Each notification is found by its own token`() throws {
        let outbox = try makeOutbox()
        let first = try post(outbox, NotificationContent(id: "a", title: "A")).row
        let second = try post(outbox, NotificationContent(id: "b", title: "B")).row
        #expect(first.token != second.token && first.token.utf8.count == Outbox.tokenBytes)
        #expect(outbox.find(token: first.token)?.key == first.key)
        #expect(outbox.find(token: "") == nil)
        #expect(outbox.find(id: "b", plugin: nil).map(\.key) == [second.key])
        #expect(outbox.find(id: "b", plugin: "weather").isEmpty)
        #expect(outbox.makeKey(now: Self.now) != outbox.makeKey(now: Self.now))
    }
}
