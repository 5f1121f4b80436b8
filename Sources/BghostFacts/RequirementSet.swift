// SPDX-License-Identifier: Apache-2.0

/// The conditions of the machine that a run requires.
package struct RequirementSet: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The requirement that a probe of the manifest succeeds.
    ///
    /// - Parameter index: the index of the probe, 0 to 7.
    package static func probe(_ index: Int) -> RequirementSet {
        RequirementSet(rawValue: 1 << (8 + UInt16(clamping: index) & 7))
    }

    /// One set for each requirement in this set.
    package var each: [RequirementSet] {
        (0..<UInt16(16)).map { RequirementSet(rawValue: 1 << $0) }.filter(contains)
    }
}
