// SPDX-License-Identifier: Apache-2.0

package import BghostBase

extension JSONWriter {
    /// Writes the members of what a reload has changed.
    package mutating func members(_ report: ReloadReport) {
        member("tasks") { $0.value(report.tasks) }
        member("plugins") { $0.value(report.plugins) }
        member("host") { $0.names(report.host) }
        member("parked", report.parked)
        member("unparked", report.unparked)
    }

    private mutating func value(_ names: ReloadReport.Names) {
        object { writer in
            writer.member("added") { $0.names(names.added) }
            writer.member("changed") { $0.names(names.changed) }
            writer.member("removed") { $0.names(names.removed) }
        }
    }

    private mutating func names(_ names: [String]) {
        array { writer in names.forEach { writer.value($0) } }
    }
}

extension ReloadReport {
    /// Reads what the writer writes; `nil` if this is none.
    package init?(json: JSONNode) {
        guard let tasks = json["tasks"].flatMap(Names.init(json:)),
            let plugins = json["plugins"].flatMap(Names.init(json:))
        else { return nil }
        self.init(
            tasks: tasks,
            plugins: plugins,
            host: json["host"]?.array?.compactMap(\.string) ?? [],
            parked: json["parked"]?.int64.map(Int.init(clamping:)) ?? 0,
            unparked: json["unparked"]?.int64.map(Int.init(clamping:)) ?? 0
        )
    }
}

extension ReloadReport.Names {
    fileprivate init?(json: JSONNode) {
        guard let added = json["added"]?.array else { return nil }
        self.init(
            added: added.compactMap(\.string),
            changed: json["changed"]?.array?.compactMap(\.string) ?? [],
            removed: json["removed"]?.array?.compactMap(\.string) ?? []
        )
    }
}
