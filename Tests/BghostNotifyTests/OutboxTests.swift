// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import BghostBase
import BghostNotify
import Testing

@Suite struct OutboxTests {
    private func request(_ world: OutboxWorld) throws -> RunID {
        try #require(world.live.keys.sorted().first)
    }

    @Test func `A failed delivery backs off with the same key until it succeeds`()
        throws
    {
        var world = OutboxWorld(try OutboxWorld.settings())
        try world.post(NotificationContent(id: "a", title: "A"))
        world.advance()
        var waits: [Int64] = []
        for _ in 0..<4 {
            let since = world.now
            try world.end(try request(world), succeeds: false)
            #expect(world.live.isEmpty)
            world.now = try #require(world.outbox.nextDate)
            waits.append((world.now - since) / OutboxWorld.second)
            world.advance()
        }
        #expect(waits == [5, 11, 22, 45])
        try world.end(try request(world), succeeds: true)
        #expect(Set(world.receipts.map(\.key)).count == 1)
        #expect(world.outbox.rows.map(\.state) == [.delivered])
    }

    @Test func `A later notification with the same id replaces the first`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        try world.post(NotificationContent(id: "a", title: "old", at: world.now + hour))
        try world.post(NotificationContent(id: "a", title: "new"))
        world.advance()
        try world.end(try request(world), succeeds: true)
        world.pass(seconds: 7200)
        #expect(world.receipts.map(\.title) == ["new"])
        #expect(world.receipts.map(\.replaces) == [false])
        try world.post(NotificationContent(id: "a", title: "newest"))
        world.advance()
        try world.end(try request(world), succeeds: true)
        #expect(world.receipts.map(\.replaces) == [false, true])
    }

    @Test func `Above the rate, waiting notifications become one digest`() throws {
        var world = OutboxWorld(try OutboxWorld.settings(count: 2, per: .seconds(600)))
        for number in 1...6 {
            try world.post(NotificationContent(id: "\(number)", title: "n\(number)"))
        }
        world.advance()
        for request in world.live.keys.sorted() { try world.end(request, succeeds: true) }
        #expect(world.receipts.map(\.title) == ["n1", "n2"])
        #expect(world.outbox.nextDate == world.now + 600 * OutboxWorld.second)
        world.pass(seconds: 599)
        #expect(world.live.isEmpty)
        world.pass(seconds: 1)
        try world.end(try request(world), succeeds: true)
        #expect(world.receipts.last?.title == "4 notifications of p")
        #expect(world.receipts.last?.body == "n3\nn4\nn5\nn6")
        #expect(world.outbox.rows.allSatisfy { $0.state == .delivered })
    }

    @Test func `A repeating notification has a key per time, and missed times are delivered once`()
        throws
    {
        var world = OutboxWorld(try OutboxWorld.settings(count: 100))
        try world.post(NotificationContent(id: "a", title: "A", every: 60 * OutboxWorld.second))
        world.advance()
        try world.end(try request(world), succeeds: true)
        world.pass(seconds: 60)
        try world.end(try request(world), succeeds: true)
        world.pass(seconds: 3600)
        try world.end(try request(world), succeeds: true)
        #expect(world.live.isEmpty)
        #expect(world.receipts.count == 3)
        #expect(Set(world.receipts.map(\.key)).count == 3)
        #expect(world.outbox.nextDate == world.now + 60 * OutboxWorld.second)
    }

    @Test func `A notification that is never delivered expires, with a note`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        try world.post(NotificationContent(id: "a", title: "A"))
        world.advance()
        for _ in 0..<200 where !world.outbox.rows.isEmpty {
            if let request = world.live.keys.first { try world.end(request, succeeds: false) }
            world.now = world.outbox.nextDate ?? world.now
            world.advance()
        }
        #expect(world.outbox.rows.isEmpty)
        #expect(world.stored.isEmpty)
        #expect(world.notes.last?.event == .expired)
    }

    @Test func `A delivery that does not start expires, and its request is withdrawn`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        try world.post(NotificationContent(id: "a", title: "A"))
        world.advance()
        #expect(world.live.count == 1)
        #expect(world.outbox.nextDate == world.now + 86_400 * OutboxWorld.second)
        world.pass(seconds: 86_400)
        #expect(world.live.isEmpty)
        #expect(world.outbox.rows.isEmpty)
    }

    @Test func `A withdrawn notification is not delivered and is unknown afterwards`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        try world.post(NotificationContent(id: "a", title: "A"))
        world.advance()
        #expect(world.live.count == 1)
        let first = world.withdraw("a")
        let second = world.withdraw("a")
        #expect(first && !second)
        #expect(world.live.isEmpty)
        #expect(world.outbox.pending(of: "p") == "[]")
    }

    @Test func `At most 64 notifications of a plugin wait`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        for number in 1...64 {
            try world.post(NotificationContent(id: "\(number)", title: "n", at: world.now + hour))
        }
        let fault = #expect(throws: NotificationFault.self) {
            try world.accept(NotificationContent(id: "65", title: "n"))
        }
        #expect(fault?.kind == .limit)
        // Another plugin's are counted apart, and one of the same id needs no room.
        try world.post(NotificationContent(id: "1", title: "again"))
        try world.post(NotificationContent(id: "1", title: "n"), of: "q")
    }

    @Test func `Only the whole token finds a link`() throws {
        var world = OutboxWorld(try OutboxWorld.settings())
        let row = try world.post(NotificationContent(id: "a", title: "A"))
        #expect(world.outbox.find(token: row.token)?.key == row.key)
        #expect(world.outbox.find(token: String(row.token.dropLast())) == nil)
        #expect(world.outbox.find(token: "") == nil)
        #expect(world.outbox.find(token: row.token.dropLast() + "!") == nil)
    }

    @Test(arguments: [
        (NotificationContent(id: "", title: "t"), NotificationFault.Kind.bad),
        (NotificationContent(id: "a\n", title: "t"), .bad),
        (NotificationContent(id: "a"), .bad),
        (NotificationContent(id: String(repeating: "a", count: 129), title: "t"), .limit),
        (NotificationContent(id: "a", body: String(repeating: "a", count: 4097)), .limit),
        (NotificationContent(id: "a", title: "t", userInfo: "[]"), .bad),
        (NotificationContent(id: "a", title: "t", userInfo: Self.deep(64)), .bad),
        (
            NotificationContent(
                id: "a",
                title: "t",
                actions: [.init(id: "x", title: "X"), .init(id: "x", title: "Y")]
            ), .bad
        ),
        (NotificationContent(id: "a", title: "t", at: -1), .bad),
        (NotificationContent(id: "a", title: "t", every: 59_000_000_000), .bad),
        (NotificationContent(id: "a", title: "t", at: 1, calendar: "@daily"), .bad),
        (NotificationContent(id: "a", title: "t", timeZone: "UTC"), .bad),
    ])
    func `An invalid notification is refused`(
        content: NotificationContent,
        kind: NotificationFault.Kind
    ) {
        #expect(throws: NotificationFault.self) { try content.check() }
        do throws(NotificationFault) { try content.check() } catch { #expect(error.kind == kind) }
    }

    @Test func `A post makes no work for the notifications of others`() throws {
        var world = OutboxWorld(try OutboxWorld.settings(count: 1000))
        for plugin in 0..<24 {
            for number in 0..<60 {
                let content = NotificationContent(
                    id: "\(number)",
                    title: "later",
                    at: world.now + hour
                )
                try world.post(content, of: "p\(plugin)")
            }
        }
        world.advance()
        let before = world.outbox.visits
        for _ in 0..<200 {
            try world.post(NotificationContent(id: "storm", title: "now"))
            world.advance()
        }
        #expect(world.outbox.visits - before < 200 * 8, "\(world.outbox.visits - before)")
        #expect(world.outbox.rows.count == 24 * 60 + 1)
        // The others come on their date.
        world.pass(seconds: 3600)
        #expect(!world.live.isEmpty)
    }

    @Test func `The deepest accepted userInfo can be delivered`() throws {
        let row = NotificationRow(
            key: RunID(high: 1, low: 2),
            plugin: "p",
            content: NotificationContent(id: "a", title: "t", userInfo: Self.deep(63)),
            token: "",
            postedAt: 0,
            due: 0
        )
        try row.content.check()
        #expect(JSONText.isObject(row.parameters(actionPort: 1)))
        #expect(JSONText.isObject(row.actionParameters("x", text: nil)))
    }

    private static func deep(_ levels: Int) -> String {
        String(repeating: #"{"a":"#, count: levels) + "1" + String(repeating: "}", count: levels)
    }

    private let hour: Int64 = 3_600_000_000_000
}
