// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// What a plugin's request asks for besides its task, its parameters and its date.
package struct SubmissionOptions: Equatable, Sendable {
    /// The requirements in addition to those of the task.
    package var requirements: RequirementSet
    /// The effect on a pending request of the task.
    package var onConflict: ConflictPolicy
    /// Whether the run starts at once, or the request is refused.
    package var startsNow: Bool

    private static let conflictBits: UInt32 = 0x300
    private static let nowBit: UInt32 = 0x400

    /// Parses `BG_NEEDS_*` and `BG_SUBMIT_*`; `nil` if a bit is unknown.
    package init?(needs: UInt32) {
        let own = Self.conflictBits | Self.nowBit
        guard let requirements = RequirementSet(needs: needs & ~own) else { return nil }
        self.requirements = requirements
        onConflict =
            switch needs & Self.conflictBits {
            case 0x100: .keep
            case 0x200: .update
            case 0x300: .append
            default: .replace
            }
        startsNow = needs & Self.nowBit != 0
    }
}
