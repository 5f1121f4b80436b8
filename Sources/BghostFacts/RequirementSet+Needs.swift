// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// Parses `BG_NEEDS_*`; `nil` if a bit is unknown.
    package init?(needs: UInt32) {
        self.init { $0.needsBit.map { needs & $0 != 0 } ?? false }
        guard self.needs == needs else { return nil }
    }

    /// The value of `BG_NEEDS_*`; requirements without a bit in the ABI are omitted.
    package var needs: UInt32 {
        StandardRequirement.allCases.filter { contains($0.set) }
            .reduce(0) { $0 | ($1.needsBit ?? 0) }
    }
}
