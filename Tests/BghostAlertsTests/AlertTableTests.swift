// SPDX-License-Identifier: Apache-2.0

@testable import BghostAlerts
import BghostBase
import BghostModel
import BghostTestSupport
import Testing

private let second: Int64 = 1_000_000_000
private let start: Int64 = 1_790_000_000 * second

/// What the receivers are told of alerts, with a clock that the test moves.
@Suite struct AlertTableTests {
    private static func settings(
        repeat period: Duration = .seconds(3600),
        digest: Duration = .seconds(60)
    ) -> AlertSettings {
        var settings = AlertSettings()
        settings.repeatPeriod = period
        settings.digest = digest
        return settings
    }

    private let key = AlertKey(.failures, "com.example.a")
    private let other = AlertKey(.deadLetters, "com.example.b")

    private func states(_ message: AlertMessage?) -> [String] {
        (message?.items ?? []).map { "\($0.key.subject) \($0.state.rawValue)" }
    }

    @Test func `What happens within the digest is told once, in one message`() {
        var table = AlertTable(Self.settings())
        let isNew = table.raise(key, "3 runs failed", now: start)
        let isNewAgain = table.raise(key, "4 runs failed", now: start + second)
        #expect(isNew && !isNewAgain, "it fires already")
        table.raise(other, "1 dead letter", now: start + 10 * second)
        #expect(table.nextDate(mutedUntil: nil) == start + 60 * second)
        #expect(table.advance(now: start + 59 * second, mutedUntil: nil) == nil)
        let message = table.advance(now: start + 60 * second, mutedUntil: nil)
        #expect(states(message) == ["com.example.a firing", "com.example.b firing"])
        #expect(message?.items.first?.detail == "4 runs failed")
        #expect(message?.firing == 2)
        #expect(table.advance(now: start + 61 * second, mutedUntil: nil) == nil)
    }

    @Test func `An alert is told again after each repeat, and once when it has ended`() {
        var table = AlertTable(Self.settings(digest: .zero))
        table.raise(key, "", now: start)
        let first = table.advance(now: start, mutedUntil: nil)
        #expect(states(first) == ["com.example.a firing"])
        table.ended(message: 1, isDelivered: true, now: start)
        #expect(table.nextDate(mutedUntil: nil) == start + 3600 * second)
        #expect(table.advance(now: start + 3599 * second, mutedUntil: nil) == nil)
        let again = table.advance(now: start + 3600 * second, mutedUntil: nil)
        #expect(states(again) == ["com.example.a still"])
        table.ended(message: again?.number ?? 0, isDelivered: true, now: start + 3600 * second)
        let hasEnded = table.clear(key, now: start + 4000 * second)
        let hasEndedAgain = table.clear(key, now: start + 4001 * second)
        #expect(hasEnded && !hasEndedAgain)
        let end = table.advance(now: start + 4000 * second, mutedUntil: nil)
        #expect(states(end) == ["com.example.a resolved"])
        #expect(end?.items.first?.endedAt == start + 4000 * second)
        #expect(table.advance(now: start + 90_000 * second, mutedUntil: nil) == nil)
    }

    @Test(arguments: [36_000 * second, -36_000 * second])
    func `A clock step changes neither the digest nor the repeat`(step: Int64) {
        var table = AlertTable(Self.settings())
        table.raise(key, "", now: start)
        table.followClock(by: step)
        var now = start + step
        #expect(table.nextDate(mutedUntil: nil) == now + 60 * second)
        now += 60 * second
        #expect(states(table.advance(now: now, mutedUntil: nil)) == ["com.example.a firing"])
        table.ended(message: 1, isDelivered: true, now: now)
        _ = table.takeChanges()
        table.followClock(by: -step)
        now -= step
        #expect(table.nextDate(mutedUntil: nil) == now + 3600 * second)
        guard case .kept(let row)? = table.takeChanges().last else {
            Issue.record("nothing is stored")
            return
        }
        #expect(row.toldAt == now && row.since == now - 60 * second)
        #expect(table.advance(now: now + 3599 * second, mutedUntil: nil) == nil)
        let again = table.advance(now: now + 3600 * second, mutedUntil: nil)
        #expect(states(again) == ["com.example.a still"])
    }

    @Test func `What ends before it was told is not told`() {
        var table = AlertTable(Self.settings())
        table.raise(key, "", now: start)
        table.clear(key, now: start + second)
        #expect(table.advance(now: start + 60 * second, mutedUntil: nil) == nil)
        #expect(table.takeChanges().count == 2, "its row is removed again")
        #expect(table.firingCount == 0)
    }

    @Test func `In a window nothing is sent, and at its end what still fires is told`() {
        var table = AlertTable(Self.settings())
        let end = start + 7200 * second
        table.raise(key, "", now: start)
        table.raise(other, "", now: start)
        #expect(table.nextDate(mutedUntil: end) == end)
        #expect(table.advance(now: start + 60 * second, mutedUntil: end) == nil)
        table.clear(other, now: start + 100 * second)
        let message = table.advance(now: end, mutedUntil: nil)
        #expect(states(message) == ["com.example.a firing"])
    }

    @Test func `What no receiver took is told again, and nothing ends that was never told`() {
        var table = AlertTable(Self.settings(digest: .zero))
        table.raise(key, "", now: start)
        _ = table.advance(now: start, mutedUntil: nil)
        table.ended(message: 1, isDelivered: false, now: start)
        #expect(table.advance(now: start + 59 * second, mutedUntil: nil) == nil)
        let again = table.advance(now: start + 60 * second, mutedUntil: nil)
        #expect(states(again) == ["com.example.a firing"])
        table.clear(key, now: start + 61 * second)
        #expect(table.advance(now: start + 61 * second, mutedUntil: nil) == nil, "one at a time")
        table.ended(message: again?.number ?? 0, isDelivered: true, now: start + 70 * second)
        let end = table.advance(now: start + 70 * second, mutedUntil: nil)
        #expect(states(end) == ["com.example.a resolved"])
        table.ended(message: end?.number ?? 0, isDelivered: false, now: start + 80 * second)
        let last = table.advance(now: start + 140 * second, mutedUntil: nil)
        #expect(states(last) == ["com.example.a resolved"])
    }

    @Test func `What ended before any receiver knew of it is not told`() {
        var table = AlertTable(Self.settings(digest: .zero))
        table.raise(key, "", now: start)
        let message = table.advance(now: start, mutedUntil: nil)
        table.clear(key, now: start + second)
        table.ended(message: message?.number ?? 0, isDelivered: false, now: start + 2 * second)
        #expect(table.advance(now: start + 9000 * second, mutedUntil: nil) == nil)
        #expect(table.takeChanges().last == .removed(key))
    }

    @Test func `An alert that begins or ends looks at few of a hundred thousand`() {
        var table = AlertTable(Self.settings(digest: .zero))
        let count = 100_000
        for number in 0..<count {
            table.raise(AlertKey(.failures, "task.\(number)"), "", now: start)
        }
        let first = table.advance(now: start, mutedUntil: nil)
        table.ended(message: first?.number ?? 0, isDelivered: true, now: start)
        #expect(first?.omitted == count - AlertMessage.itemsMax)
        var before = table.alertsVisited
        for step in 1...50 as ClosedRange<Int64> {
            let now = start + step * second
            let own = AlertKey(.deadLetters, "own.\(step)")
            table.raise(own, "", now: now)
            let begun = table.advance(now: now, mutedUntil: nil)
            #expect(states(begun) == ["own.\(step) firing"])
            table.ended(message: begun?.number ?? 0, isDelivered: true, now: now)
            table.clear(AlertKey(.failures, "task.\(step)"), now: now)
            let ended = table.advance(now: now, mutedUntil: nil)
            #expect(states(ended) == ["task.\(step) resolved"])
            table.ended(message: ended?.number ?? 0, isDelivered: true, now: now)
            _ = table.nextDate(mutedUntil: nil)
        }
        #expect(table.alertsVisited - before <= 50 * 20, "\(table.alertsVisited - before)")
        // What fires is told again after each period of `repeat`: each of it, once.
        before = table.alertsVisited
        let again = table.advance(now: start + 4000 * second, mutedUntil: nil)
        #expect(again?.items.count == AlertMessage.itemsMax)
        #expect(table.alertsVisited - before <= 3 * count, "\(table.alertsVisited - before)")
    }

    @Test func `An alert that comes and goes is told a bounded number of times`() {
        var table = AlertTable(Self.settings(digest: .zero))
        var told: [String] = []
        for step in 0..<3000 {
            let now = start + Int64(step) * second
            if step.isMultiple(of: 2) {
                table.raise(key, "", now: now)
            } else {
                table.clear(key, now: now)
            }
            while let message = table.advance(now: now, mutedUntil: nil) {
                told += states(message)
                table.ended(message: message.number, isDelivered: true, now: now)
            }
        }
        #expect(told.count <= 2 * AlertTable.beginningsMax, "\(told)")
        table.clear(key, now: start + 3001 * second)
        // It ends once it has been quiet for a quarter of the period.
        let end = table.advance(now: start + 3001 * second + 900 * second, mutedUntil: nil)
        #expect(states(end) == ["com.example.a resolved"])
    }

    @Test func `A restart tells nothing twice, and no end is lost`() {
        var first = AlertTable(Self.settings(digest: .zero))
        var rows: [AlertKey: AlertRow] = [:]
        func store(_ table: inout AlertTable) {
            for change in table.takeChanges() {
                switch change {
                case .kept(let row): rows[row.key] = row
                case .removed(let key): rows[key] = nil
                default: break
                }
            }
        }
        first.raise(key, "told", now: start)
        _ = first.advance(now: start, mutedUntil: nil)
        store(&first)
        #expect(rows[key]?.toldAt == nil, "no receiver took it yet")
        first.ended(message: 1, isDelivered: true, now: start + second)
        first.raise(other, "not told", now: start + 2 * second)
        store(&first)
        #expect(rows[key]?.toldAt == start + second && rows[other]?.toldAt == nil)

        var next = AlertTable(Self.settings(digest: .zero))
        let now = start + 100_000_000_000
        for row in rows.values { next.recover(row, now: now) }
        next.raise(key, "found again", now: now)
        next.settle(now: now)
        #expect(
            next.advance(now: now, mutedUntil: nil) == nil,
            "one is known, the other has ended"
        )
        store(&next)
        #expect(rows[other] == nil)

        var third = AlertTable(Self.settings(digest: .zero))
        for row in rows.values { third.recover(row, now: now) }
        third.settle(now: now)
        let message = third.advance(now: now, mutedUntil: nil)
        #expect(states(message) == ["com.example.a resolved"])
        store(&third)
        #expect(rows[key]?.endedAt == now, "until a receiver took it")
        third.ended(message: 1, isDelivered: true, now: now)
        store(&third)
        #expect(rows.isEmpty)
    }

    @Test func `A message has a bounded number of alerts and says how many more there are`() {
        var table = AlertTable(Self.settings(digest: .zero))
        for number in 0..<200 {
            table.raise(
                AlertKey(.failures, "t\(number)"),
                String(repeating: "ä", count: 4000),
                now: start
            )
        }
        let message = table.advance(now: start, mutedUntil: nil)
        #expect(message?.items.count == AlertMessage.itemsMax)
        #expect(message?.omitted == 150)
        #expect(message.map { AlertText($0, host: "h").body.utf8.count } ?? 0 < 60 << 10)
        table.clear(now: start) { $0.subject != "t7" }
        #expect(table.statuses.map(\.key.subject) == ["t7"])
    }

    /// Any sequence of events, with receivers that fail at random and a daemon that starts again.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(40))
    func `Each firing that is told is resolved once, and told once for each repeat`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let period: Int64 = 600 * second
        let settings = Self.settings(repeat: .seconds(600), digest: .seconds(5))
        var table = AlertTable(settings)
        let keys = (0..<4).map { AlertKey(.failures, "t\($0)") }
        var firing: Set<AlertKey> = []
        /// What the receiver knows, and when it was last told that an alert fires.
        var known: [AlertKey: Int64] = [:]
        var sent: [AlertMessage] = []
        var now = start
        for _ in 0..<2000 {
            now += Int64.random(in: 0...20, using: &random) * second
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            if Bool.random(using: &random) {
                table.raise(key, "x", now: now)
                firing.insert(key)
            } else {
                table.clear(key, now: now)
                firing.remove(key)
            }
            let muted: Int64? = Int.random(in: 0..<4, using: &random) == 0 ? now + second : nil
            if let message = table.advance(now: now, mutedUntil: muted) { sent.append(message) }
            // One receiver takes the messages in order, or none at all.
            guard !sent.isEmpty, Bool.random(using: &random) else { continue }
            let message = sent.removeFirst()
            let isDelivered = Int.random(in: 0..<5, using: &random) > 0
            table.ended(message: message.number, isDelivered: isDelivered, now: now)
            guard isDelivered else { continue }
            for item in message.items {
                switch item.state {
                case .firing:
                    #expect(known[item.key] == nil, "it was told before: seed \(seed)")
                    known[item.key] = message.at
                case .still:
                    let before = known[item.key] ?? 0
                    #expect(message.at - before >= period, "too early: seed \(seed)")
                    known[item.key] = message.at
                case .resolved: known[item.key] = nil
                }
            }
        }
        // At last all is told: what fires is known, and nothing else.
        for _ in 0..<20 {
            now += period
            if let message = table.advance(now: now, mutedUntil: nil) { sent.append(message) }
            for message in sent {
                table.ended(message: message.number, isDelivered: true, now: now)
                for item in message.items {
                    known[item.key] = item.state == .resolved ? nil : message.at
                }
            }
            sent = []
        }
        #expect(Set(known.keys) == firing, "seed \(seed)")
        #expect(table.firingCount == firing.count)
    }
}
