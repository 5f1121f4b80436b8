// SPDX-License-Identifier: Apache-2.0
@testable import BghostBase
import BghostModel
import BghostPolicy
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("ulnog", "ulong"), ("Ulong", "ulong"), ("ulon", "ulong"), ("stringg", "string"),
        ("STRING", "string"), ("bites", "bytes"), ("Y", "y"),
    ])
    func `Finds what was meant`(_ word: String, _ meant: String) {
        #expect(
            Spelling.nearest(to: word, among: ["int", "ulong", "string", "bytes", "x", "y"])
                == meant
        )
    }

    @Test(arguments: ["", "xyz", "q", "completelyElse", String(repeating: "a", count: 10_000)])
    func `Suggests nothing far off`(_ word: String) {
        #expect(Spelling.nearest(to: word, among: ["int", "ulong", "string", "bytes", "x"]) == nil)
    }
}

/// Suggestions where there are very many names: work is counted, not time.
@Suite struct SpellingBudgetTests {
    private static let names = (0..<100_000).map { "com.example.reports.daily.\($0)" }

    @Test func `Of very many names few are compared`() {
        var looked = 0
        let counted = Self.names.lazy.map { name -> String in
            looked += 1
            return name
        }
        var budget = Spelling.Budget()
        let before = budget
        _ = Spelling.nearest(to: "com.example.reprots.daily.99999", among: counted, within: &budget)
        #expect(looked <= before.candidates + 1)
        // The last comparison may go over it.
        #expect(before.pairs - budget.pairs <= before.pairs + 2 * 128 * 128)
    }

    @Test func `A single mistake is found among any number of names`() {
        let known = Set(Self.names)
        var asked = 0
        for word in [
            "com.example.reprots.daily.99999", "com.example.reports.daily.9999x",
            "com.example.reports.daly.99999", "com.example.reports.dailyy.99999",
        ] {
            asked = 0
            let found = Spelling.oneEditAway(from: word) { name in
                asked += 1
                return known.contains(name)
            }
            #expect(found?.hasPrefix("com.example.reports.daily.9999") == true, "\(word)")
            #expect(asked <= 82 * (word.utf8.count + 1))
        }
    }

    /// The scheduler's refusal of a misspelled identifier, on the thread that holds all limits.
    @Test func `A scheduler suggests within the budget`() throws {
        var manifest = try SchedulerHand.manifest("first")
        let task = manifest.tasks[0]
        manifest.tasks = try (0..<20_000).map { number in
            var other = task
            other.identifier = try #require(IdentifierPattern("com.example.daily.\(number)"))
            return other
        }
        let hand = SchedulerHand(manifest)
        let near = hand.scheduler.nearestName(to: "com.example.dialy.19999")
        #expect(near == "com.example.daily.19999")
    }
}
