// SPDX-License-Identifier: Apache-2.0

/// Finds the intended word for a misspelled one.
package enum Spelling {
    /// The candidate with the smallest edit distance, if it is close enough for a suggestion.
    ///
    /// The limit is one edit per three letters, at least one, but not an edit of every letter. All
    /// differences in case together count as half an edit. Of equally close candidates, the first one is
    /// chosen. `Budget` limits the number of compared candidates.
    package static func nearest(
        to word: String,
        among candidates: some Sequence<String>
    ) -> String? {
        var budget = Budget()
        return nearest(to: word, among: candidates, within: &budget)
    }

    /// The maximum work for a suggestion, because other clients wait meanwhile.
    package struct Budget: Equatable, Sendable {
        /// The number of candidates that may still be compared.
        var candidates: Int
        /// The number of pairs of letters that may still be compared.
        var pairs: Int
        /// The number of words that may still be looked up.
        package var lookups: Int

        package init(candidates: Int = 4096, pairs: Int = 1 << 19, lookups: Int = 1 << 14) {
            self.candidates = candidates
            self.pairs = pairs
            self.lookups = lookups
        }
    }

    /// The closest candidate; subtracts the work from the budget.
    package static func nearest(
        to word: String,
        among candidates: some Sequence<String>,
        within budget: inout Budget
    ) -> String? {
        // Long words are not typing mistakes, and the cost is the product of the lengths.
        guard !word.isEmpty, word.utf8.count <= lengthMax else { return nil }
        let letters = Array(word.utf8)
        let allowed = max(1, letters.count / 3)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            budget.candidates -= 1
            guard budget.candidates >= 0, budget.pairs > 0 else { break }
            let length = candidate.utf8.count
            guard length <= lengthMax, abs(length - letters.count) <= allowed else { continue }
            let other = Array(candidate.utf8)
            budget.pairs -= 2 * length * letters.count
            // The distance in halves of an edit.
            let distance = min(
                2 * distance(letters, other),
                2 * distance(letters.map(lowered), other.map(lowered)) + 1
            )
            guard distance <= 2 * allowed, distance < 2 * letters.count,
                distance < best?.distance ?? Int.max
            else { continue }
            best = (candidate, distance)
        }
        return best?.candidate
    }

    /// A known word that is one edit away; the cost does not depend on the number of known words.
    package static func oneEditAway(from word: String, isKnown: (String) -> Bool) -> String? {
        let letters = Array(word.utf8)
        guard !letters.isEmpty, letters.count <= lengthMax else { return nil }
        func known(_ changed: some Collection<UInt8>) -> String? {
            let text = String(decoding: changed, as: UTF8.self)
            return isKnown(text) ? text : nil
        }
        for index in letters.indices {
            var shorter = letters
            shorter.remove(at: index)
            if let found = known(shorter) { return found }
            var swapped = letters
            if index > 0 { swapped.swapAt(index, index - 1) }
            if let found = known(swapped) { return found }
        }
        for letter in alphabet {
            for index in 0...letters.count {
                var longer = letters
                longer.insert(letter, at: index)
                if let found = known(longer) { return found }
                guard index < letters.count else { continue }
                var replaced = letters
                replaced[index] = letter
                if let found = known(replaced) { return found }
            }
        }
        return nil
    }

    /// The characters of identifiers.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789.-_".utf8)

    private static let lengthMax = 128

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }

    /// The optimal string alignment distance: insertions, deletions, replacements, and swaps of neighbours.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var older: [Int] = []
        var old = Array(0...second.count)
        for i in first.indices {
            var row = [i + 1]
            for j in second.indices {
                let replaced = old[j] + (first[i] == second[j] ? 0 : 1)
                var cost = min(old[j + 1] + 1, row[j] + 1, replaced)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    cost = min(cost, older[j - 1] + 1)
                }
                row.append(cost)
            }
            (older, old) = (old, row)
        }
        return old[second.count]
    }
}
