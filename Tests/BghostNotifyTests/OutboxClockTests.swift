// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostNotify
import BghostTestSupport
import Testing

/// Notifications and a wall clock that is set, in either direction.
@Suite(.ownThreads) struct OutboxClockTests {
    private static let second = OutboxWorld.second
    private static let hours = 3600 * second

    private func world() throws -> OutboxWorld {
        OutboxWorld(try OutboxWorld.settings(count: 1000, per: .seconds(1)))
    }

    /// How long until the delivery of a notification.
    private func wait(_ id: String, _ world: OutboxWorld) throws -> Int64 {
        let row = try #require(world.outbox.find(id: id, plugin: nil).first)
        return max(row.due, row.notBefore) - world.now
    }

    private func deliver(_ world: inout OutboxWorld) throws {
        while let request = world.live.keys.sorted().first {
            try world.end(request, succeeds: true)
        }
    }

    @Test(arguments: [10 * hours, -10 * hours, 9600 * hours, -9600 * hours])
    func `A clock step changes neither an interval nor a retry`(step: Int64) throws {
        var world = try world()
        try world.post(NotificationContent(id: "a", title: "A", every: 60 * Self.second))
        world.advance()
        try deliver(&world)
        try world.post(NotificationContent(id: "b", title: "B"))
        world.advance()
        try world.end(try #require(world.live.keys.first), succeeds: false)
        world.pass(seconds: 3)
        let retry = try wait("b", world)
        #expect(retry > 0)
        world.setClock(by: step)
        #expect(try wait("a", world) == 57 * Self.second)
        #expect(try wait("b", world) == retry)
        // What is stored says so too.
        #expect(world.stored["p a"]?.due == world.now + 57 * Self.second)
        world.pass(seconds: 4)
        try deliver(&world)
        world.setClock(by: -step)
        #expect(try wait("a", world) == 53 * Self.second)
        world.pass(seconds: 53)
        try deliver(&world)
        #expect(world.receipts.map(\.title) == ["A", "B", "A"])
        #expect(!world.notes.contains { $0.event == .expired })
    }

    /// It was posted for now while the clock was ahead, and its delivery failed.
    @Test func `A clock that is set back does not put off what was posted for now`() throws {
        var world = try world()
        world.setClock(by: 10 * Self.hours)
        let row = try world.accept(NotificationContent(id: "a", title: "A"))
        world.setClock(by: -10 * Self.hours)
        // As its owner does for one that was being stored.
        world.arrive(row)
        world.followClock(row, by: -10 * Self.hours)
        #expect(try wait("a", world) <= 0)
        #expect(world.live.count == 1)
    }

    @Test func `A step forward gives up nothing that waits for its delivery`() throws {
        var world = try world()
        try world.post(NotificationContent(id: "a", title: "A"))
        world.advance()
        try world.end(try #require(world.live.keys.first), succeeds: false)
        world.setClock(by: 48 * Self.hours)
        world.pass(seconds: 7)
        try deliver(&world)
        #expect(world.receipts.map(\.title) == ["A"])
    }

    @Test func `A date stays, and a calendar's next time is found again`() throws {
        var world = try world()
        let date = world.now + Self.hours
        try world.post(NotificationContent(id: "date", title: "D", at: date))
        try world.post(NotificationContent(id: "noon", title: "N", calendar: "0 12 * * *"))
        world.setClock(by: 2400 * Self.hours)
        try deliver(&world)
        #expect(Set(world.receipts.map(\.title)) == ["N"], "the date is long past")
        world.setClock(by: -2400 * Self.hours)
        #expect(try wait("noon", world) <= 24 * Self.hours)
        try world.post(NotificationContent(id: "date", title: "D", at: date))
        world.setClock(by: -10 * Self.hours)
        #expect(try wait("date", world) == 11 * Self.hours)
    }

    @Test func `A calendar's time that was served is not served again`() throws {
        var world = try world()
        try world.post(NotificationContent(id: "noon", title: "N", calendar: "0 12 * * *"))
        world.now = try #require(world.outbox.find(id: "noon", plugin: nil).first?.due)
        world.advance()
        // The clock is set back during the delivery, and once more after it.
        world.setClock(by: -Self.hours)
        try deliver(&world)
        #expect(try wait("noon", world) == 25 * Self.hours)
        world.setClock(by: -Self.hours)
        #expect(try wait("noon", world) == 26 * Self.hours)
    }

    @Test func `A restart under an earlier clock corrects what is stored`() throws {
        var world = try world()
        world.now += 10 * Self.hours
        try world.post(NotificationContent(id: "a", title: "A", every: 60 * Self.second))
        world.advance()
        try deliver(&world)
        try world.post(NotificationContent(id: "b", title: "B"))
        world.now -= 10 * Self.hours
        world.crash()
        #expect(try wait("a", world) == 60 * Self.second)
        #expect(try wait("b", world) <= 0)
        #expect(world.stored["p a"] == world.outbox.find(id: "a", plugin: nil).first)
    }

    /// After any sequence of steps and restarts each interval comes in time.
    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(24))
    func `Every interval is delivered in time however the clock is set`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = try world()
        let every = Int64.random(in: 60...7200, using: &random)
        let first = Bool.random(using: &random) ? world.now + every * Self.second : 0
        try world.post(
            NotificationContent(id: "a", title: "A", at: first, every: every * Self.second)
        )
        world.advance()
        var since: Int64 = 0
        for _ in 0..<300 {
            let count = world.receipts.count
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                world.setClock(by: Int64.random(in: -24...24, using: &random) * Self.hours)
            case 1:
                world.setClock(by: Int64.random(in: -9600...9600, using: &random) * Self.hours)
            case 2:
                world.now -= Int64.random(in: 0...24, using: &random) * Self.hours
                world.crash()
                // How long it was gone is not known: it counts from here.
                since = 0
            default:
                let seconds = Int64.random(in: 0...(every / 2), using: &random)
                since += seconds
                world.pass(seconds: seconds)
            }
            try deliver(&world)
            if world.receipts.count > count { since = 0 }
            // Looked at twice in an interval, a delivery is seen that much later.
            #expect(since <= every + every / 2)
            #expect(
                try wait("a", world) <= every * Self.second,
                "\(world.outbox.rows) at \(world.now), every \(every)"
            )
        }
        #expect(world.receipts.count > 10)
    }
}
