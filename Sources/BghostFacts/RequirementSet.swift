// SPDX-License-Identifier: Apache-2.0

/// The conditions of the machine that a run requires.
package struct RequirementSet: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: UInt16

    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let externalPower = RequirementSet(rawValue: 1 << 0)
    package static let network = RequirementSet(rawValue: 1 << 1)
    package static let unmetered = RequirementSet(rawValue: 1 << 2)
    package static let idle = RequirementSet(rawValue: 1 << 3)
    package static let batteryNotLow = RequirementSet(rawValue: 1 << 4)
    package static let storage = RequirementSet(rawValue: 1 << 5)

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
