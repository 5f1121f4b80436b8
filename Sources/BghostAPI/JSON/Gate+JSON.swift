// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostPolicy

extension JSONWriter {
    /// Writes a gate as an object.
    mutating func value(_ gate: Gate) {
        object { writer in
            writer.member("gate", gate.kind.rawValue)
            writer.member("name", gate.name.isEmpty ? nil : gate.name)
            writer.member("open", gate.isOpen)
            writer.member("now", gate.now)
            writer.member("wanted", gate.wanted)
            writer.member("source", gate.source)
            writer.member("since", time: gate.since)
            writer.member("until", time: gate.until)
            writer.member("remedy", gate.remedy)
            writer.member("condition", gate.condition)
            writer.member("ids") { writer in
                writer.array { writer in gate.ids.forEach { writer.value($0.description) } }
            }
            writer.member("changes") { writer in
                writer.array { writer in gate.changes.forEach { writer.value($0) } }
            }
        }
    }

    private mutating func value(_ change: Fact.Change) {
        object { writer in
            writer.member("value", change.value.rawValue)
            writer.member("reading", change.reading)
            writer.member("at", time: change.at)
        }
    }
}

extension Gate {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    init?(json: JSONNode) {
        guard let kind = json["gate"]?.string.flatMap(Kind.init(rawValue:)),
            let isOpen = json["open"]?.bool, let now = json["now"]?.string,
            let wanted = json["wanted"]?.string
        else { return nil }
        self.init(
            kind,
            name: json["name"]?.string ?? "",
            isOpen: isOpen,
            now: now,
            wanted: wanted,
            source: json["source"]?.string ?? "",
            since: json.time("since"),
            until: json.time("until"),
            remedy: json["remedy"]?.string ?? "",
            condition: json["condition"]?.string ?? "",
            changes: json["changes"]?.array?.compactMap(Fact.Change.init(json:)) ?? [],
            ids: json["ids"]?.array?.compactMap { $0.string.flatMap { RunID($0) } } ?? []
        )
    }
}

extension Fact.Change {
    fileprivate init?(json: JSONNode) {
        guard let value = json["value"]?.string.flatMap(FactValue.init(rawValue:)),
            let at = json.time("at")
        else { return nil }
        self.init(value: value, reading: json["reading"]?.string ?? "", at: at)
    }
}
