// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

extension ManifestBuilder {
    /// Reads the section `host.fleet`; `nil` if there is none.
    func fleet(_ node: JSONNode?, in source: ManifestSource) -> FleetSettings? {
        guard let node, let connection = node["connection"], let name = node["name"],
            let address = connection.string, let written = name.string
        else { return nil }
        let value = expansion(source).expand(written, at: name.span)
        // A reference that could not be resolved is reported already.
        if !value.containsASCII("${"), let fault = TextFormat.pluginName.fault(in: value) {
            collector.report(
                .badFleet,
                at: name.span,
                in: source,
                "\(written.quoted) is no name of a host: \(fault.reason)",
                label: fault.label,
                help: "use 1 to 64 of A-Z a-z 0-9 . _ -, such as \"${env:HOSTNAME}\""
            )
        }
        let text = expansion(source).expand(address, at: connection.span)
        if !text.containsASCII("${"), FleetSettings.isMisleading(connection: text) {
            // Without any part of the text, which may be one of a secret.
            collector.report(
                .badFleet,
                at: connection.span,
                in: source,
                "the URL in `connection` has a `/` or an `@` between `://` and its last `@`, so PostgreSQL"
                    + " would take a part of the password for a server",
                help:
                    "write `/` as %2F and `@` as %40 in the password, the user and the parameters, also"
                    + " in a file that `connection` names"
            )
        }
        for (key, path) in ConnectionFiles.named(in: text) {
            trust.require(
                path,
                of: "`\(key)` of `connection`",
                isSecret: text != address,
                at: connection.span,
                in: source
            )
        }
        return FleetSettings(
            connection: text,
            name: value,
            lease: duration(node["lease"]) ?? FleetSettings.leaseDefault
        )
    }

    /// Whether one host of the fleet serves the schedule of a task; reports what does not fit that.
    func isOnceInFleet(
        _ entry: ManifestEntry,
        _ host: HostSettings,
        _ schedule: TaskSchedule?,
        _ limits: RunLimits
    ) -> Bool {
        guard let node = entry.node["runs"], node.string == "onceInFleet" else { return false }
        func report(_ code: DiagnosticCode, _ text: String, _ help: String) {
            collector.report(
                code,
                at: node.span,
                in: entry.source,
                "task \(entry.name.quoted) runs once in the fleet, but \(text)",
                help: help
            )
        }
        if schedule?.isCalendar != true {
            report(
                .onceWithoutCalendar,
                schedule.map {
                    $0.isOfBoot
                        ? "each host boots at a time of its own"
                        : "the times of `every` are different on each host"
                } ?? "has no schedule",
                "write a `calendar`, whose times are the same on all hosts, or remove `runs`"
            )
        }
        guard let fleet = host.fleet else {
            report(
                .onceWithoutFleet,
                "the host is in no fleet",
                "add `fleet` to `host`, with `connection` and `name`, or remove `runs`"
            )
            return true
        }
        if limits.grace > fleet.graceMax {
            report(
                .onceWithoutFleet,
                "its grace of \(Self.written(limits.grace)) is longer than a third of the lease",
                "shorten `limits.grace` to \(Self.written(fleet.graceMax)), or lengthen"
                    + " `host.fleet.lease` to \(Self.written(limits.grace * 3))"
            )
        }
        return true
    }

    /// Whether the requests of a task live in the fleet; reports what does not fit that.
    func isInFleet(_ entry: ManifestEntry, _ host: HostSettings) -> Bool {
        guard let node = entry.node["runs"], node.string == "inFleet" else { return false }
        func report(_ span: ByteSpan, _ text: String, _ help: String) {
            collector.report(
                .badInFleet,
                at: span,
                in: entry.source,
                "the requests of task \(entry.name.quoted) live in the fleet, but \(text)",
                help: help
            )
        }
        if host.fleet == nil {
            report(
                node.span,
                "the host is in no fleet",
                "add `fleet` to `host`, with `connection` and `name`, or remove `runs`"
            )
        }
        let others = [
            ("calendar", "its starts are those of each host"),
            ("every", "its starts are those of each host"),
            ("onBoot", "each host boots at a time of its own"),
            ("submitAtStart", "each host starts at a time of its own"),
            ("learnsUse", "uses are those of each host"),
            ("then", "what follows is stored with the end of a run, on one host"),
        ]
        for (key, reason) in others {
            guard let member = entry.node.object?.first(where: { $0.key == key }) else { continue }
            report(
                member.keySpan,
                "it has `\(key)`: \(reason)",
                "remove `\(key)`; a task with `\"runs\": \"onceInFleet\"` has a calendar, and can submit"
                    + " this one"
            )
        }
        return true
    }

    /// A duration as the manifest has it, such as `10s`.
    private static func written(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(seconds)s" : "\(milliseconds)ms"
    }
}
