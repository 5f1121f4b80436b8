// SPDX-License-Identifier: Apache-2.0

/// The requirements other than probes; each raw value is the name in the manifest.
///
/// All that differs between requirements is decided by a `switch` over this type, so that the
/// compiler finds each place for a new one.
package enum StandardRequirement: String, CaseIterable, Sendable {
    case externalPower
    case network
    case unmetered
    case idle
    case batteryNotLow
    case storage

    /// Its bit.
    ///
    /// Requests are stored with their bits, so a bit never changes. The bits from 8 on belong to
    /// probes: 6 and 7 are free.
    package var set: RequirementSet {
        switch self {
        case .externalPower: RequirementSet(rawValue: 1 << 0)
        case .network: RequirementSet(rawValue: 1 << 1)
        case .unmetered: RequirementSet(rawValue: 1 << 2)
        case .idle: RequirementSet(rawValue: 1 << 3)
        case .batteryNotLow: RequirementSet(rawValue: 1 << 4)
        case .storage: RequirementSet(rawValue: 1 << 5)
        }
    }

    /// The one requirement in a set; `nil` if it is a probe, or if there are several or none.
    init?(_ set: RequirementSet) {
        guard let requirement = Self.allCases.first(where: { $0.set == set }) else { return nil }
        self = requirement
    }

    /// The condition, in words.
    var wanted: String {
        switch self {
        case .externalPower: "power from the mains"
        case .network: "a default route over a link that is up, for 2 s"
        case .unmetered: "a network that does not cost by the byte"
        case .idle: "cpu and io pressure below 10 % for 60 s"
        case .batteryNotLow: "charge of at least 20 %, once below at least 25 %"
        case .storage: "at least 5 % and 1 GiB free"
        }
    }

    /// How the operator can meet it, in the imperative.
    var remedy: String {
        switch self {
        case .externalPower: "connect external power"
        case .network: "bring up a default route; it counts after 2 s"
        case .unmetered: "connect to a network that does not cost by the byte"
        case .idle: "reduce the load: cpu and io pressure below 10 % for 60 s"
        case .batteryNotLow: "charge the battery to at least 25 %"
        case .storage: "free at least 5 % and 1 GiB of the disk"
        }
    }

    /// Its bit in `BG_NEEDS_*`, with which a request asks for it; `nil` if the ABI has none.
    var needsBit: UInt32? {
        switch self {
        case .network: 1
        case .externalPower: 2
        case .unmetered: 4
        case .idle, .batteryNotLow, .storage: nil
        }
    }

    /// When measures meet it.
    var rule: FactRule {
        switch self {
        case .network: FactRule(risesAfter: 2 * FactRule.second)
        case .idle: FactRule(risesAfter: 60 * FactRule.second, fallsAfter: 10 * FactRule.second)
        case .batteryNotLow: FactRule(between: .holds)
        case .externalPower, .unmetered, .storage: FactRule()
        }
    }

    /// Whether a run that loses it is cancelled, unless its task says otherwise.
    ///
    /// The loss of power or idleness cancels a run, because the owner of the machine needs it. The
    /// loss of the network does not, because it may be short, and its users wait or fail by
    /// themselves.
    var cancelsWhenLost: Bool {
        switch self {
        case .externalPower, .batteryNotLow, .idle: true
        case .network, .unmetered, .storage: false
        }
    }

    /// Whether it counts as met while it is unknown.
    ///
    /// Servers rarely know whether their network is metered, and it rarely is.
    var isMetIfUnknown: Bool {
        switch self {
        case .unmetered: true
        case .externalPower, .network, .idle, .batteryNotLow, .storage: false
        }
    }
}

extension RequirementSet {
    package static let externalPower = StandardRequirement.externalPower.set
    package static let network = StandardRequirement.network.set
    package static let unmetered = StandardRequirement.unmetered.set
    package static let idle = StandardRequirement.idle.set
    package static let batteryNotLow = StandardRequirement.batteryNotLow.set
    package static let storage = StandardRequirement.storage.set

    /// The requirements for which a property of `StandardRequirement` is true.
    init(where isIncluded: (StandardRequirement) -> Bool) {
        self.init(StandardRequirement.allCases.filter(isIncluded).map(\.set))
    }
}
