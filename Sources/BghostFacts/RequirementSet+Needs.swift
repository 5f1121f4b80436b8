// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// Parses `BG_NEEDS_*`; `nil` if a bit is unknown.
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

    /// The value of `BG_NEEDS_*`; requirements without a bit in the ABI are omitted.
    package var needs: UInt32 {
        (contains(.network) ? 1 : 0) | (contains(.externalPower) ? 2 : 0)
            | (contains(.unmetered) ? 4 : 0)
    }
}
