// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// The requirements that need no probe, with their names in the manifest.
    package static let named: [(name: String, requirement: RequirementSet)] = [
        ("externalPower", .externalPower),
        ("network", .network),
        ("unmetered", .unmetered),
        ("idle", .idle),
        ("batteryNotLow", .batteryNotLow),
        ("storage", .storage),
    ]

    /// All bits that probes have.
    package static let anyProbe = RequirementSet(rawValue: 0xFF00)

    /// The requirement of this name; `nil` if there is none.
    ///
    /// - Parameter probes: the names of the manifest's probes, in the order of their bits.
    package init?(name: some StringProtocol, probes: [String]) {
        if let known = Self.named.first(where: { $0.name == name }) {
            self = known.requirement
        } else if let index = probes.prefix(FactSheet.probesMax).firstIndex(where: { $0 == name }) {
            self = .probe(index)
        } else {
            return nil
        }
    }

    /// The names of the requirements in it, with commas.
    package func name(probes: [String]) -> String {
        each.map { requirement in
            if let known = Self.named.first(where: { $0.requirement == requirement }) {
                return known.name
            }
            let index = requirement.rawValue.trailingZeroBitCount - 8
            return probes.indices.contains(index) ? probes[index] : "probe \(index)"
        }.joined(separator: ", ")
    }

    /// What one requirement asks for, in words.
    package var wanted: String {
        switch self {
        case .externalPower: "power from the mains"
        case .network: "a default route over a link that is up, for 2 s"
        case .unmetered: "a network that does not cost by the byte"
        case .idle: "cpu and io pressure below 10 % for 60 s"
        case .batteryNotLow: "charge of at least 20 %, once below at least 25 %"
        case .storage: "at least 5 % and 1 GiB free"
        default: "exit 0"
        }
    }
}
