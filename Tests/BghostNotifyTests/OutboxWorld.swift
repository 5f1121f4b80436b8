// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
@testable import BghostModel
@testable import BghostNotify
import BghostTestSupport
import Testing

/// An outbox with a store, a scheduler and a sink that are as simple as can be, under a clock that
/// stands until it is moved.
struct OutboxWorld {
    struct Receipt: Equatable {
        var key: String
        var title: String
        var body: String
        var replaces: Bool
    }

    struct Live {
        var task: String
        var parameters: String
    }

    static let second: Int64 = 1_000_000_000
    var outbox: Outbox
    var now: Int64 = 1_795_000_000 * second
    /// By plugin and id.
    var stored: [String: NotificationRow] = [:]
    /// Requests that wait or run.
    var live: [RunID: Live] = [:]
    var receipts: [Receipt] = []
    var notes: [OutboxEffect.Note] = []
    /// When each key went out for the first time since the last crash.
    var begun: [(key: String, at: Int64)] = []
    /// Keys of deliveries that were under way at the last crash.
    var adopted: Set<String> = []
    var ids = RunIDSource()
    var digests = RunIDSource()
    var random: SeededGenerator
    /// How often of a hundred a submission is refused.
    var refusals = 0

    init(_ settings: NotificationSettings, seed: UInt64 = 1) {
        outbox = Outbox(settings)
        random = SeededGenerator(seed: seed)
    }

    static func settings(
        _ task: String = "tell.*",
        count: Int = 3,
        per: Duration = .seconds(600)
    ) throws -> NotificationSettings {
        NotificationSettings(
            task: try #require(IdentifierPattern(task)),
            rate: .init(count: count, per: per),
            expiry: .seconds(86_400)
        )
    }

    mutating func nextID() -> RunID {
        ids.next(unixMilliseconds: UInt64(now / 1_000_000)) { random.next() }
    }

    // MARK: What happens

    /// Makes a row that is on its way to the store.
    mutating func accept(
        _ content: NotificationContent,
        of plugin: String = "p"
    ) throws -> NotificationRow {
        let key = nextID()
        return try outbox.accept(
            content,
            of: plugin,
            recurrence: recurrence(content, at: content.at == 0 ? now : content.at),
            key: key,
            token: String(repeating: "a", count: 6) + "\(key)",
            now: now
        )
    }

    mutating func arrive(_ row: NotificationRow, isStored: Bool = true) {
        if isStored { keep(.kept(row)) }
        perform { outbox, effects in
            outbox.finishPost(
                row,
                recurrence: Self.recurrence(row.content, at: row.due),
                isStored: isStored,
                &effects
            )
        }
    }

    @discardableResult
    mutating func post(
        _ content: NotificationContent,
        of plugin: String = "p"
    ) throws -> NotificationRow {
        let row = try accept(content, of: plugin)
        arrive(row)
        return row
    }

    mutating func withdraw(_ id: String, of plugin: String = "p") -> Bool {
        var done = false
        perform { outbox, effects in done = outbox.withdraw(id, of: plugin, &effects) }
        return done
    }

    mutating func pass(seconds: Int64) {
        now += seconds * Self.second
        begun = begun.map { ($0.key, min($0.at, now)) }
        advance()
    }

    /// Sets the clock, and lets the outbox see that.
    mutating func setClock(by step: Int64) {
        now += step
        begun = begun.map { ($0.key, $0.at + min(step, 0)) }
        let moment = now
        perform { $0.followClock(by: step, now: moment, &$1) }
        advance()
    }

    /// Lets one notification follow a step that came while it was being stored.
    mutating func followClock(_ row: NotificationRow, by step: Int64) {
        let moment = now
        perform { $0.followClock(row.key, by: step, now: moment, &$1) }
        advance()
    }

    mutating func advance() {
        let moment = now
        // Of its own: requests are named while the outbox is being asked.
        var digests = digests
        perform { outbox, effects in
            outbox.advance(
                now: moment,
                key: {
                    digests.next(unixMilliseconds: UInt64(moment / 1_000_000)) { .max }
                },
                &effects
            )
        }
        self.digests = digests
    }

    /// Ends the delivery of a request; the sink has it if it succeeds.
    mutating func end(_ request: RunID, succeeds: Bool) throws {
        let ended = try #require(live[request])
        live[request] = nil
        if succeeds || Int.random(in: 0..<4, using: &random) == 0 {
            // A failure may come after the sink took it.
            try receive(ended)
        }
        let moment = now
        perform { outbox, effects in
            outbox.ended(
                request: request,
                DeliveryEnd(succeeded: succeeds, message: "no answer"),
                now: moment,
                random: { $0 / 2 },
                &effects
            )
        }
        advance()
    }

    /// Another daemon takes over what is stored; requests are, too.
    mutating func crash() {
        outbox = Outbox(outbox.settings)
        begun = []
        adopted = []
        let moment = now
        for row in stored.values.sorted(by: { $0.key < $1.key }) {
            let recurrence = recurrence(row.content, at: row.due)
            perform { outbox, effects in
                outbox.restore(row, recurrence: recurrence, now: moment, &effects)
            }
        }
        for (request, live) in live {
            let key = (try? JSONReader.parse(live.parameters))?["key"]?.string ?? ""
            outbox.adopt(request: request, task: live.task, key: key)
            adopted.insert(key)
        }
        advance()
    }

    // MARK: What is done

    private mutating func perform(_ body: (inout Outbox, inout [OutboxEffect]) -> Void) {
        var effects: [OutboxEffect] = []
        body(&outbox, &effects)
        for effect in effects { execute(effect) }
    }

    private mutating func execute(_ effect: OutboxEffect) {
        switch effect {
        case .store(let change): keep(change)
        case .deliver(let key, let task, let parameters):
            let name = (try? JSONReader.parse(parameters))?["key"]?.string ?? ""
            if !adopted.contains(name), !begun.contains(where: { $0.key == name }) {
                begun.append((name, now))
            }
            guard Int.random(in: 0..<100, using: &random) >= refusals else {
                let (moment, isFull) = (now, Bool.random(using: &random))
                return perform { outbox, effects in
                    outbox.refused(
                        key,
                        "refused",
                        isFull: isFull,
                        now: moment,
                        random: { $0 / 2 },
                        &effects
                    )
                }
            }
            let request = nextID()
            // A request takes the place of the pending one of its identifier.
            live = live.filter { $0.value.task != task }
            live[request] = Live(task: task, parameters: parameters)
            outbox.submitted(key, request: request)
        case .withdraw(let request, _): live[request] = nil
        case .note(let note): notes.append(note)
        }
    }

    private mutating func keep(_ change: NotificationChange) {
        switch change {
        case .kept(let row): stored["\(row.plugin) \(row.content.id)"] = row
        case .removed(let plugin, let id): stored["\(plugin) \(id)"] = nil
        }
    }

    private mutating func receive(_ request: Live) throws {
        let parameters = try JSONReader.parse(request.parameters)
        let replaces: Bool? = parameters["replaces"]?.bool
        receipts.append(
            Receipt(
                key: try #require(parameters["key"]?.string),
                title: try #require(parameters["title"]?.string),
                body: try #require(parameters["body"]?.string),
                replaces: replaces ?? false
            )
        )
    }

    private func recurrence(_ content: NotificationContent, at anchor: Int64) -> Recurrence? {
        Self.recurrence(content, at: anchor)
    }

    private static func recurrence(
        _ content: NotificationContent,
        at anchor: Int64
    ) -> Recurrence? {
        if !content.calendar.isEmpty {
            return (try? CalendarExpression(content.calendar)).flatMap {
                try? .calendar($0, zone: .utc)
            }
        }
        guard content.every > 0 else { return nil }
        return try? .every(content.every, anchor: anchor)
    }
}
