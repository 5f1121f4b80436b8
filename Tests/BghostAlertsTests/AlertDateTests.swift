// SPDX-License-Identifier: Apache-2.0

@testable import BghostAlerts
import BghostBase
import BghostModel
import Testing

private let second: Int64 = 1_000_000_000
private let start: Int64 = 1_790_000_000 * second

/// When alerts are told again, and what their dates cost.
@Suite struct AlertDateTests {
    private let key = AlertKey(.failures, "com.example.a")

    private func table() -> AlertTable {
        var settings = AlertSettings()
        settings.repeatPeriod = .seconds(3600)
        settings.digest = .zero
        return AlertTable(settings)
    }

    /// A table with an alert that a receiver knows of.
    private func told() -> AlertTable {
        var table = table()
        table.raise(key, "", now: start)
        let message = table.advance(now: start, mutedUntil: nil)
        table.ended(message: message?.number ?? 0, isDelivered: true, now: start)
        return table
    }

    @Test func `An alert whose end no receiver took is told again while it fires`() {
        var table = told()
        table.clear(key, now: start + 10 * second)
        let end = table.advance(now: start + 10 * second, mutedUntil: nil)
        #expect(end?.items.map(\.state) == [.resolved])
        table.raise(key, "", now: start + 20 * second)
        #expect(table.advance(now: start + 20 * second, mutedUntil: nil) == nil)
        table.ended(message: end?.number ?? 0, isDelivered: false, now: start + 30 * second)
        #expect(table.nextDate(mutedUntil: nil) == start + 3600 * second)
        let again = table.advance(now: start + 3600 * second, mutedUntil: nil)
        #expect(again?.items.map(\.state) == [.still])
    }

    @Test func `An alert that comes and goes leaves no dates behind`() {
        var table = told()
        for _ in 0..<100_000 {
            table.clear(key, now: start + second)
            table.raise(key, "", now: start + second)
        }
        #expect(table.dates.size < 5000, "\(table.dates.size)")
        #expect(table.nextDate(mutedUntil: nil) == start + second)
        #expect(table.advance(now: start + second, mutedUntil: nil) == nil, "it fires, as told")
        let again = table.advance(now: start + 3600 * second, mutedUntil: nil)
        #expect(again?.items.map(\.state) == [.still])
    }

    @Test func `A date before 1970 counts as one that has passed`() {
        var table = table()
        let long = -7200 * second
        table.recover(AlertRow(key: key, since: long, detail: "", toldAt: long), now: 0)
        table.raise(key, "", now: 0)
        #expect(table.nextDate(mutedUntil: nil) == 0)
        #expect(table.advance(now: 0, mutedUntil: nil)?.items.map(\.state) == [.still])
    }
}
