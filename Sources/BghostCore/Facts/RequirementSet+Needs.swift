// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// Reads `BG_NEEDS_*`; `nil` if there is a bit that this host does not know.
    package init?(needs: UInt32) {
        self = []
        var rest = needs
        for (bit, requirement) in [(UInt32(1), Self.network), (2, .externalPower), (4, .unmetered)]
        where needs & bit != 0 {
            formUnion(requirement)
            rest &= ~bit
        }
        guard rest == 0 else { return nil }
    }
}
