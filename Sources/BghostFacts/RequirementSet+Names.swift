// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// The requirements other than probes, with their names in the manifest.
    package static let named = StandardRequirement.allCases.map {
        (name: $0.rawValue, requirement: $0.set)
    }

    /// The bits of all probes.
    package static let anyProbe = RequirementSet(rawValue: 0xFF00)

    /// The requirement with a name; `nil` if there is none.
    ///
    /// - Parameter probes: the names of the manifest's probes, in the order of their bits.
    package init?(name: some StringProtocol, probes: [String]) {
        if let known = StandardRequirement(rawValue: String(name)) {
            self = known.set
        } else if let index = probes.prefix(FactSheet.probesMax).firstIndex(where: { $0 == name }) {
            self = .probe(index)
        } else {
            return nil
        }
    }

    /// The names of the requirements in this set, separated by commas.
    package func name(probes: [String]) -> String {
        each.map { requirement in
            if let known = StandardRequirement(requirement) { return known.rawValue }
            let index = requirement.rawValue.trailingZeroBitCount - 8
            return probes.indices.contains(index) ? probes[index] : "probe \(index)"
        }.joined(separator: ", ")
    }

    /// The condition of one requirement, in words.
    package var wanted: String { StandardRequirement(self)?.wanted ?? "exit 0" }

    /// How the operator can meet one requirement, in the imperative.
    ///
    /// - Parameter name: its name in the manifest.
    package func remedy(name: String) -> String {
        StandardRequirement(self)?.remedy ?? "make the probe `\(name)` exit 0"
    }
}
