// SPDX-License-Identifier: Apache-2.0

/// Finds what a misspelled word may have meant.
package enum Spelling {
    /// The candidate that is fewest edits away from the word, if it is near enough to be worth a
    /// suggestion.
    ///
    /// That is one edit for every three letters, and at least one, but not an edit of every letter.
    /// Any number of differences in case counts as half an edit; of candidates equally near the
    /// first is taken.
    package static func nearest(
        to word: String,
        among candidates: some Sequence<String>
    ) -> String? {
        // Long words are no typing mistakes, and the distance costs the product of the lengths.
        guard !word.isEmpty, word.utf8.count <= lengthMax else { return nil }
        let letters = Array(word.utf8)
        let allowed = max(1, letters.count / 3)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.utf8)
            guard other.count <= lengthMax, abs(other.count - letters.count) <= allowed else {
                continue
            }
            // In halves of an edit.
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

    private static let lengthMax = 128

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }

    /// The optimal string alignment distance: insertions, deletions, replacements and swaps of
    /// neighbours.
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
