// SPDX-License-Identifier: Apache-2.0

extension RequirementSet {
    /// The requirements other than probes, with their names in the manifest.
    package static let named: [(name: String, requirement: RequirementSet)] = [
        ("externalPower", .externalPower),
        ("network", .network),
        ("unmetered", .unmetered),
        ("idle", .idle),
        ("batteryNotLow", .batteryNotLow),
        ("storage", .storage),
    ]

    /// The bits of all probes.
    package static let anyProbe = RequirementSet(rawValue: 0xFF00)

    /// The requirement with a name; `nil` if there is none.
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

    /// The names of the requirements in this set, separated by commas.
    package func name(probes: [String]) -> String {
        each.map { requirement in
            if let known = Self.named.first(where: { $0.requirement == requirement }) {
                return known.name
            }
            let index = requirement.rawValue.trailingZeroBitCount - 8
            return probes.indices.contains(index) ? probes[index] : "probe \(index)"
        }.joined(separator: ", ")
    }

    /// The condition of one requirement, in words.
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

    /// How the operator can meet one requirement, in the imperative.
    ///
    /// - Parameter name: its name in the manifest.
    package func remedy(name: String) -> String {
        switch self {
        case .externalPower: "connect external power"
        case .network: "bring up a default route; it counts after 2 s"
        case .unmetered: "connect to a network that does not cost by the byte"
        case .idle: "reduce the load: cpu and io pressure below 10 % for 60 s"
        case .batteryNotLow: "charge the battery to at least 25 %"
        case .storage: "free at least 5 % and 1 GiB of the disk"
        default: "make the probe `\(name)` exit 0"
        }
    }
}
