// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostCalendar
internal import BghostModel

extension ManifestBuilder {
    /// Reads the schedule of a task; `nil` if it has none.
    func schedule(
        _ entry: ManifestEntry,
        _ identifier: IdentifierPattern,
        _ host: HostSettings
    ) -> TaskSchedule? {
        let node = entry.node
        guard let times = times(entry, host) else { return nil }
        if identifier.isFamily {
            refuse(["calendar", "every"].first { node[$0] != nil } ?? "onBoot", of: entry)
        }
        let most = node["misfireMax"]?.int64.map { Int(clamping: $0) } ?? 10
        let misfire: MisfirePlan.Policy =
            switch node["misfire"]?.string {
            case "skip": .skip
            case "all": .all(max: most)
            default: .once
            }
        return TaskSchedule(
            times: times,
            misfire: misfire,
            startDeadline: duration(node["startDeadline"]),
            window: duration(node["offset"]?["window"]) ?? .zero,
            randomDelay: duration(node["randomDelay"]) ?? .zero
        )
    }

    /// Whether a task learns usage habits; reports the key if the task has no tolerance.
    func learnsUse(_ entry: ManifestEntry) -> Bool {
        guard entry.node["learnsUse"]?.bool == true else { return false }
        if entry.node["tolerance"] == nil {
            collector.report(
                .missingKey,
                at: entry.node.object?.first { $0.key == "learnsUse" }?.keySpan ?? entry.keySpan,
                in: entry.source,
                "task \(entry.name.quoted) has `learnsUse` but no `tolerance` within which to begin",
                help: "write a `tolerance`, such as \"4h\", or remove `learnsUse`"
            )
        }
        return true
    }

    private func times(_ entry: ManifestEntry, _ host: HostSettings) -> TaskSchedule.Times? {
        let node = entry.node
        let interval = duration(node["every"])
        if let boot = bootTimes(entry) { return boot }
        // `TextFormat` has reported a text that is none.
        guard let text = node["calendar"]?.string, let expression = try? CalendarExpression(text)
        else {
            for key in ["timeZone", "gap", "fold"] where node["calendar"] == nil {
                reportWithoutCalendar(key, of: entry)
            }
            return interval.map { .every($0) }
        }
        if node["every"] != nil {
            report(
                "every",
                of: entry,
                "task \(entry.name.quoted) has both `calendar` and `every`",
                help: "remove one of them"
            )
        }
        return .calendar(
            expression,
            zone: zone(node["timeZone"], in: entry.source) ?? host.timeZone,
            gap: node["gap"]?.string.flatMap(GapPolicy.init) ?? .shift,
            fold: node["fold"]?.string.flatMap(FoldPolicy.init) ?? .first
        )
    }

    /// Reads `onBoot`, and reports keys that say nothing beside it; `nil` if the task has no such schedule.
    private func bootTimes(_ entry: ManifestEntry) -> TaskSchedule.Times? {
        guard let node = entry.node["onBoot"], node.bool != false else { return nil }
        let others = [
            "calendar", "every", "timeZone", "gap", "fold", "misfire", "misfireMax",
            "startDeadline",
        ]
        for key in others where entry.node[key] != nil {
            let span = entry.node.object?.first { $0.key == key }?.keySpan
            collector.report(
                .badOnBoot,
                at: span ?? entry.keySpan,
                in: entry.source,
                "task \(entry.name.quoted) has both `onBoot` and `\(key)`",
                help: key == "calendar" || key == "every"
                    ? "remove one of them, or define a second task with the same handler"
                    : "remove `\(key)`: a start at a boot is never missed"
            )
        }
        // A text that is no duration is reported already.
        return .boot(after: duration(node) ?? .zero)
    }

    private func reportWithoutCalendar(_ key: String, of entry: ManifestEntry) {
        guard entry.node[key] != nil else { return }
        report(
            key,
            of: entry,
            "`\(key)` says nothing without `calendar`",
            help: "remove it, or write a `calendar`"
        )
    }

    private func report(_ key: String, of entry: ManifestEntry, _ text: String, help: String) {
        let span = entry.node.object?.first { $0.key == key }?.keySpan
        collector.report(
            .badCalendar,
            at: span ?? entry.keySpan,
            in: entry.source,
            text,
            help: help
        )
    }

    /// The time zone that a key names; `nil` if the key is absent, or if the zone does not exist,
    /// which is reported.
    func zone(_ node: JSONNode?, in source: ManifestSource) -> ZoneTable? {
        guard let node, let name = node.string else { return nil }
        do {
            return try zones.find(name)
        } catch {
            let near = Spelling.nearest(to: name, among: zones.names())
            collector.report(
                .badTimeZone,
                at: node.span,
                in: source,
                "there is no time zone \(name.quoted): \(error)",
                label: near.map { "did you mean \"\($0)\"?" },
                help: near == nil ? "use an IANA name such as \"Europe/Berlin\"" : nil
            )
            return nil
        }
    }
}

/// Supplies time zones to the reader.
package struct ZoneSource: Sendable {
    /// Finds a zone by its IANA name; the error's text is a clause that says why there is none.
    var find: @Sendable (String) throws -> ZoneTable
    /// Lists all names, for suggestions.
    var names: @Sendable () -> [String]

    package init(
        find: @escaping @Sendable (String) throws -> ZoneTable,
        names: @escaping @Sendable () -> [String]
    ) {
        self.find = find
        self.names = names
    }
}
