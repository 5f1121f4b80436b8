// SPDX-License-Identifier: Apache-2.0
import BghostCore
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("ulnog", "ulong"), ("Ulong", "ulong"), ("ulon", "ulong"), ("stringg", "string"),
        ("STRING", "string"), ("bites", "bytes"), ("Y", "y"),
    ])
    func findsWhatWasMeant(_ word: String, _ meant: String) {
        #expect(
            Spelling.nearest(to: word, among: ["int", "ulong", "string", "bytes", "x", "y"])
                == meant
        )
    }

    @Test(arguments: ["", "xyz", "q", "completelyElse", String(repeating: "a", count: 10_000)])
    func suggestsNothingFarOff(_ word: String) {
        #expect(Spelling.nearest(to: word, among: ["int", "ulong", "string", "bytes", "x"]) == nil)
    }
}
