// SPDX-License-Identifier: Apache-2.0

/// What must hold of the machine before a run may begin.
package struct RequirementSet: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let externalPower = RequirementSet(rawValue: 1 << 0)
    package static let network = RequirementSet(rawValue: 1 << 1)
    package static let unmetered = RequirementSet(rawValue: 1 << 2)
    package static let idle = RequirementSet(rawValue: 1 << 3)
    package static let batteryNotLow = RequirementSet(rawValue: 1 << 4)
    package static let storage = RequirementSet(rawValue: 1 << 5)

    /// The requirement that one of the manifest's eight probes is true.
    package static func probe(_ index: Int) -> RequirementSet {
        RequirementSet(rawValue: 1 << (8 + UInt16(clamping: index) & 7))
    }

    /// The bits that are set, one by one.
    package var each: [RequirementSet] {
        (0..<UInt16(16)).map { RequirementSet(rawValue: 1 << $0) }.filter(contains)
    }
}
