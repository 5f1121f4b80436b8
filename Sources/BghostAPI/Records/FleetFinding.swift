// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Something about a fleet that an operator should know.
package struct FleetFinding: Codable, Equatable, Sendable {
    /// What it is about.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// The fleet's store does not answer.
        case store
        /// The asked host has no valid lease.
        case lease
        /// No request of the fleet starts on the asked host.
        case partitions
        /// Partitions have no owner.
        case ownerless
        /// A host has died.
        case gone
        /// A host has not renewed its lease for long.
        case waning
        /// Hosts have other tasks.
        case tasks
        /// A host's clock is wrong.
        case clock
        /// Hosts have other versions of bghost.
        case versions
        /// A host is drained.
        case drained
        /// No host claims starts.
        case idle
        /// Only one host claims starts.
        case alone
    }

    /// What it is about, in one word.
    package var kind: Kind
    /// Whether something is wrong; otherwise it is only worth knowing.
    package var isProblem: Bool
    /// The host; "" if it is about the fleet.
    @OrDefault package var host: String
    /// What was found, one sentence without a full stop.
    package var message: String
    /// What to do about it; "" if nothing.
    @OrDefault package var remedy: String

    package init(
        _ kind: Kind,
        isProblem: Bool,
        host: String = "",
        _ message: String,
        remedy: String = ""
    ) {
        self.kind = kind
        self.isProblem = isProblem
        _host = OrDefault(wrappedValue: host)
        self.message = message
        _remedy = OrDefault(wrappedValue: remedy)
    }
}

extension FleetStatus {
    /// The difference of a host's clock from that of the store from which on it is a problem, nanoseconds.
    package static let clockOffsetMax: Int64 = 1_000_000_000

    /// The most names of hosts in a message; a fleet may have a thousand.
    private static let namesMax = 5

    /// What is wrong or worth knowing, the problems first.
    ///
    /// O(hosts × log hosts).
    package var diagnosis: [FleetFinding] {
        guard !name.isEmpty else { return [] }
        guard !hosts.isEmpty else {
            return [storeFinding, leaseFinding, partitionsFinding].compactMap { $0 }
        }
        var all = [
            storeFinding, leaseFinding, partitionsFinding, ownerlessFinding, idleFinding,
        ]
        for host in hosts {
            all += [goneFinding(host), waningFinding(host), clockFinding(host), drainFinding(host)]
        }
        all += [tasksFinding, versionsFinding, aloneFinding]
        let found = all.compactMap { $0 }
        return found.filter(\.isProblem) + found.filter { !$0.isProblem }
    }

    private var live: [FleetHost] { hosts.filter(\.state.hasLease) }

    private var storeFinding: FleetFinding? {
        guard !problem.isEmpty else { return nil }
        return FleetFinding(
            .store,
            isProblem: true,
            "\(name) cannot use the fleet: \(problem)",
            remedy: "repair that on \(name); bghost tries again by itself"
        )
    }

    private var leaseFinding: FleetFinding? {
        guard validFor == 0, problem.isEmpty else { return nil }
        return FleetFinding(
            .lease,
            isProblem: true,
            host: name,
            "\(name) has no valid lease, so none of its tasks with `onceInFleet` starts",
            remedy: "wait for its next renewal; the log has the reason under `fleet.lost`"
        )
    }

    private var partitionsFinding: FleetFinding? {
        guard !partitionsProblem.isEmpty else { return nil }
        return FleetFinding(
            .partitions,
            isProblem: true,
            host: name,
            "\(name): \(partitionsProblem)",
            remedy:
                "repair the way to the database on \(name); bghost tries again by itself, and the log"
                + " has more under `partitions.`"
        )
    }

    private var ownerlessFinding: FleetFinding? {
        guard ownerless > 0 else { return nil }
        return FleetFinding(
            .ownerless,
            isProblem: true,
            "\(CountText.of(ownerless, "partition")) of the fleet \(ownerless == 1 ? "has" : "have") no"
                + " owner, so no request in \(ownerless == 1 ? "it" : "them") starts",
            remedy:
                "start a daemon that has the tasks, or undrain one with `bghost fleet undrain HOST`"
        )
    }

    private var idleFinding: FleetFinding? {
        guard !hosts.contains(where: { $0.state == .live }) else { return nil }
        let hasDrained = hosts.contains { $0.drainedAt != nil }
        return FleetFinding(
            .idle,
            isProblem: true,
            hasDrained
                ? "each host is drained or has no lease, so no start of the fleet begins"
                : "no host has a lease, so no start of the fleet begins",
            remedy: hasDrained
                ? "`bghost fleet undrain HOST` lets a host serve starts again" : "start a daemon"
        )
    }

    private func goneFinding(_ host: FleetHost) -> FleetFinding? {
        guard host.state == .gone else { return nil }
        let starts =
            host.claims > 0
            ? "; \(CountText.of(host.claims, "start")) that it had"
                + " \(host.claims == 1 ? "waits" : "wait") for a host that takes over"
            : ""
        return FleetFinding(
            .gone,
            // An operator who has drained it knows.
            isProblem: host.drainedAt == nil,
            host: host.name,
            "\(host.name) has died or lost its way to the database: its lease ended"
                + " \(Self.text(Int64(0).subtractingClamped(host.leaseLeft))) ago\(starts)",
            remedy: host.drainedAt == nil
                ? "start its daemon; if it is gone for good, `bghost fleet drain \(host.name)`"
                : "nothing if it is gone for good; otherwise start its daemon and undrain it with"
                    + " `bghost fleet undrain \(host.name)`"
        )
    }

    private func waningFinding(_ host: FleetHost) -> FleetFinding? {
        guard host.state.hasLease, host.lease > 0, host.leaseLeft < host.lease / 2 else {
            return nil
        }
        return FleetFinding(
            .waning,
            isProblem: true,
            host: host.name,
            "\(host.name) has not renewed its lease for \(Self.text(host.lease - host.leaseLeft)) and"
                + " starts nothing; others take its starts over in \(Self.text(host.leaseLeft))",
            remedy: "look at its daemon with `bghost health` there, and at its way to the database"
        )
    }

    private func clockFinding(_ host: FleetHost) -> FleetFinding? {
        guard host.state.hasLease, let clock = host.clock else { return nil }
        let size = Int64(clamping: clock.offset.magnitude)
        guard size.subtractingClamped(clock.error) > Self.clockOffsetMax else { return nil }
        return FleetFinding(
            .clock,
            isProblem: true,
            host: host.name,
            "the clock of \(host.name) is \(Self.text(size)) \(clock.offset > 0 ? "ahead of" : "behind")"
                + " that of the database, so it begins starts too \(clock.offset > 0 ? "early" : "late")",
            remedy: "let a time service such as chrony or systemd-timesyncd set the clocks"
        )
    }

    private func drainFinding(_ host: FleetHost) -> FleetFinding? {
        guard let drainedAt = host.drainedAt, host.state.hasLease else { return nil }
        let since = Timestamp.text(unixNanoseconds: drainedAt)
        return FleetFinding(
            .drained,
            isProblem: false,
            host: host.name,
            host.state == .drained
                ? "\(host.name) is drained since \(since) and has no start and no partition"
                : "\(host.name) is being drained since \(since) and has"
                    + " \(CountText.of(host.claims, "start"))"
                    + (host.partitions > 0
                        ? " and \(CountText.of(host.partitions, "partition"))" : ""),
            remedy: "`bghost fleet undrain \(host.name)` lets it serve starts again"
        )
    }

    private var tasksFinding: FleetFinding? {
        let groups = Self.groups(live.filter { !$0.tasks.isEmpty }, by: \.tasks)
        guard groups.count > 1 else { return nil }
        return FleetFinding(
            .tasks,
            isProblem: true,
            "the hosts do not have the same tasks with `onceInFleet` at the same times, or with `inFleet`: "
                + groups.map { Self.names($0.hosts) }.joined(separator: " differ from "),
            remedy:
                "give each host the same tasks, calendars and time zones; otherwise a host does not"
                + " take over a start or a request that it does not have"
        )
    }

    private var versionsFinding: FleetFinding? {
        let groups = Self.groups(live, by: \.version)
        guard groups.count > 1 else { return nil }
        return FleetFinding(
            .versions,
            isProblem: false,
            "the hosts run several versions of bghost: "
                + groups.map { "\($0.key) on \(Self.names($0.hosts))" }.joined(separator: ", "),
            remedy: "update the others"
        )
    }

    private var aloneFinding: FleetFinding? {
        let serving = hosts.filter { $0.state == .live }
        guard serving.count == 1, let host = serving.first else { return nil }
        return FleetFinding(
            .alone,
            isProblem: false,
            host: host.name,
            "only \(host.name) serves starts, and no other host would take them over"
        )
    }

    /// The hosts by a property, the smallest group first, so that an odd one out is named first.
    private static func groups(
        _ hosts: [FleetHost],
        by property: (FleetHost) -> String
    ) -> [(key: String, hosts: [FleetHost])] {
        Dictionary(grouping: hosts, by: property).map { ($0.key, $0.value) }
            .sorted { ($0.hosts.count, $0.key) < ($1.hosts.count, $1.key) }
    }

    private static func names(_ hosts: [FleetHost]) -> String {
        let names = hosts.map(\.name).sorted()
        let rest = names.count - namesMax
        guard rest > 0 else { return names.joined(separator: ", ") }
        return names.prefix(namesMax).joined(separator: ", ") + " and \(rest) more"
    }

    private static func text(_ nanoseconds: Int64) -> String {
        DurationText.of(nanoseconds: UInt64(max(0, nanoseconds)) / 100_000_000 * 100_000_000)
    }
}
