// SPDX-License-Identifier: Apache-2.0

import BghostModel
@testable import BghostNotify
import BghostTestSupport
import Testing

/// Posts, replacements, withdrawals, failures, refusals and crashes in any order.
@Suite(.ownThreads) struct OutboxPropertyTests {
    @Test(arguments: SeededGenerator.seeds(24), ["tell.*", "tell"])
    func `No notification is lost, and a repeated delivery has the same key`(
        seed: UInt64,
        task: String
    ) throws {
        var play = Play(try OutboxWorld.settings(task), seed: seed)
        for _ in 0..<400 { try play.step() }
        try play.finish()
        play.judge()
    }

    private struct Play {
        var world: OutboxWorld
        /// Titles that people must see in the end, by plugin and id.
        var owed: [String: String] = [:]
        var number = 0
        var random: SeededGenerator

        init(_ settings: NotificationSettings, seed: UInt64) {
            world = OutboxWorld(settings, seed: seed)
            world.refusals = 10
            random = SeededGenerator(seed: seed ^ 0xABCD)
        }

        mutating func step() throws {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<25: try post()
            case ..<30: withdraw()
            case ..<55: world.pass(seconds: Int64.random(in: 1...60, using: &random))
            case ..<95:
                guard let request = world.live.keys.sorted().randomElement(using: &random) else {
                    return
                }
                try world.end(request, succeeds: Int.random(in: 0..<3, using: &random) > 0)
            case ..<96: world.pass(seconds: -5)
            case ..<97:
                let hours = Int64.random(in: -20...20, using: &random)
                world.setClock(by: hours * 3600 * OutboxWorld.second)
            default: world.crash()
            }
            checkStore()
            checkRate()
        }

        private mutating func post() throws {
            let plugin = ["p", "q"].randomElement(using: &random) ?? "p"
            let id = "i\(Int.random(in: 0..<12, using: &random))"
            number += 1
            var content = NotificationContent(id: id, title: "n\(number)")
            content.level = NotificationLevel.allCases.randomElement(using: &random) ?? .active
            if Int.random(in: 0..<5, using: &random) == 0 {
                content.at = world.now + Int64.random(in: 1...300, using: &random) * 1_000_000_000
            }
            if Int.random(in: 0..<12, using: &random) == 0 { content.every = 90_000_000_000 }
            let row = try world.accept(content, of: plugin)
            // While it is on its way, what it replaces may end, and the daemon may die.
            if Bool.random(using: &random), let request = world.live.keys.sorted().first {
                try world.end(request, succeeds: Bool.random(using: &random))
            }
            switch Int.random(in: 0..<10, using: &random) {
            case 0: world.arrive(row, isStored: false)
            case 1:
                world.crash()
            default:
                world.arrive(row)
                owed["\(plugin) \(id)"] = content.title
            }
            world.advance()
        }

        private mutating func withdraw() {
            let plugin = ["p", "q"].randomElement(using: &random) ?? "p"
            let id = "i\(Int.random(in: 0..<12, using: &random))"
            if world.withdraw(id, of: plugin) { owed["\(plugin) \(id)"] = nil }
        }

        /// What is in memory is what a crash would leave.
        private func checkStore() {
            let memory = Dictionary(
                uniqueKeysWithValues: world.outbox.rows.map {
                    ("\($0.plugin) \($0.content.id)", $0)
                }
            )
            #expect(memory.keys.sorted() == world.stored.keys.sorted())
            for (name, row) in memory {
                // The outbox does not store a delay that only a full queue causes.
                var kept = world.stored[name]
                kept?.notBefore = row.notBefore
                #expect(kept == row)
            }
        }

        /// In no window of the rate's length did more begin than it allows.
        private func checkRate() {
            let rate = world.outbox.settings.rate
            let period = Int64(rate.per.components.seconds) * 1_000_000_000
            for plugin in ["p", "q"] {
                let keys = Set(
                    world.outbox.rows.filter { $0.plugin == plugin }.map { "\($0.key)" }
                )
                let times = world.begun.filter { keys.contains(String($0.key.prefix(26))) }.map(
                    \.at
                )
                for start in times {
                    let count = times.count { $0 >= start && $0 < start + period }
                    #expect(count <= rate.count)
                }
            }
        }

        /// Lets everything come to its end.
        mutating func finish() throws {
            world.refusals = 0
            for row in world.outbox.rows where row.content.every > 0 {
                _ = world.withdraw(row.content.id, of: row.plugin)
                owed["\(row.plugin) \(row.content.id)"] = nil
            }
            for _ in 0..<2000 where world.outbox.rows.contains(where: { $0.state == .waiting }) {
                while let request = world.live.keys.sorted().first {
                    try world.end(request, succeeds: true)
                }
                guard let next = world.outbox.nextDate else { continue }
                world.now = max(world.now, next)
                world.advance()
            }
            let left = world.outbox.rows.filter { $0.state == .waiting }
            #expect(left.isEmpty, "never delivered: \(left.map(\.content.title))")
        }

        func judge() {
            var byKey: [String: OutboxWorld.Receipt] = [:]
            var seen: Set<String> = []
            for receipt in world.receipts {
                var told = receipt
                // Only this may differ: a failed attempt may have been seen.
                told.replaces = byKey[receipt.key]?.replaces ?? receipt.replaces
                if let first = byKey[receipt.key] {
                    #expect(first == told, "one key for two notifications")
                }
                byKey[receipt.key] = told
                seen.insert(receipt.title)
                for line in receipt.body.split(separator: "\n") { seen.insert(String(line)) }
            }
            let lost = owed.values.filter { !seen.contains($0) }
            #expect(lost.isEmpty, "lost: \(lost.sorted())")
        }
    }
}
