// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    func history(_ node: JSONNode?) -> HistorySettings {
        var history = HistorySettings()
        history.runs = node?["runs"]?.int64.map { Int(clamping: $0) } ?? history.runs
        history.age = duration(node?["age"]) ?? history.age
        history.bytes = amount(node?["size"], .size) ?? history.bytes
        history.outputBytes = amount(node?["output"], .size) ?? history.outputBytes
        history.rollups = node?["rollups"]?.int64.map { Int(clamping: $0) } ?? history.rollups
        return history
    }

    func audit(_ node: JSONNode?) -> AuditSettings {
        var audit = AuditSettings()
        audit.isRequired = node?["required"]?.bool ?? audit.isRequired
        audit.notesSubmissions = node?["submissions"]?.bool ?? audit.notesSubmissions
        audit.rows = node?["rows"]?.int64.map { Int(clamping: $0) } ?? audit.rows
        audit.age = duration(node?["age"]) ?? audit.age
        audit.bytes = amount(node?["size"], .size) ?? audit.bytes
        return audit
    }

    /// Reads the limits of a task's history; reports those that exceed the host's, since they would
    /// have no effect.
    func taskHistory(_ entry: ManifestEntry, _ host: HostSettings) -> TaskHistory {
        guard let node = entry.node["history"] else { return TaskHistory() }
        let history = TaskHistory(
            runs: node["runs"]?.int64.map { Int(clamping: $0) },
            age: duration(node["age"])
        )
        if let runs = history.runs, runs > host.history.runs {
            reportExcess("runs", of: entry, host: "\(host.history.runs)")
        }
        if let age = history.age, age > host.history.age {
            reportExcess("age", of: entry, host: DurationText.of(host.history.age))
        }
        return history
    }

    private func reportExcess(_ key: String, of entry: ManifestEntry, host: String) {
        collector.report(
            .outOfRange,
            at: entry.node["history"]?[key]?.span ?? entry.keySpan,
            in: entry.source,
            "`history.\(key)` of task \(entry.name.quoted) is more than the daemon keeps of all tasks",
            label: "`host.history.\(key)` is \(host)",
            help: "raise `host.history.\(key)`, or remove this key"
        )
    }
}
