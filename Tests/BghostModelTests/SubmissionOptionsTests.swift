// SPDX-License-Identifier: Apache-2.0

import BghostFacts
import BghostModel
import CBghost
import Testing

@Suite struct SubmissionOptionsTests {
    @Test(
        arguments: [
            (0, .replace, false), (Int32(BG_SUBMIT_KEEP), .keep, false),
            (Int32(BG_SUBMIT_UPDATE), .update, false), (Int32(BG_SUBMIT_APPEND), .append, false),
            (Int32(BG_SUBMIT_NOW), .replace, true),
            (Int32(BG_SUBMIT_NOW | BG_SUBMIT_APPEND), .append, true),
        ] as [(Int32, ConflictPolicy, Bool)]
    )
    func `The bits of the header say what becomes of the pending request, and whether to start now`(
        bits: Int32,
        onConflict: ConflictPolicy,
        startsNow: Bool
    ) throws {
        let needs = UInt32(bits) | UInt32(BG_NEEDS_POWER)
        let options = try #require(SubmissionOptions(needs: needs))
        #expect(options.onConflict == onConflict)
        #expect(options.startsNow == startsNow)
        #expect(options.requirements == .externalPower)
    }

    @Test(arguments: [0x8, 0x80, 0x800, 0x8000_0000] as [UInt32])
    func `A bit that has no meaning yet is refused`(bit: UInt32) {
        #expect(SubmissionOptions(needs: bit) == nil)
        #expect(SubmissionOptions(needs: bit | UInt32(BG_SUBMIT_APPEND)) == nil)
    }
}
