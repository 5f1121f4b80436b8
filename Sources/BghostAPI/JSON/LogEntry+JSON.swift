// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension LogEntry.Level {
    /// The level in one word.
    package var text: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        case .fault: "fault"
        }
    }

    /// Reads what `text` writes; `nil` for anything else.
    package init?(text: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = level
    }
}

extension JSONWriter {
    /// Writes a line of the log as an object that carries its own schema, since lines travel alone.
    package mutating func value(_ entry: LogEntry) {
        object { writer in
            writer.member("schema", Schema.logEntry)
            writer.member("sequence", entry.sequence)
            writer.member("time", time: entry.time)
            writer.member("level", entry.level.text)
            writer.member("source", entry.source.rawValue)
            writer.member("event", entry.event)
            writer.member("message", entry.message)
            writer.member("task", entry.task)
            writer.member("plugin", entry.plugin)
            writer.member("run", entry.run?.description)
        }
    }
}

extension LogEntry {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let sequence = json["sequence"]?.uint64, let time = json.time("time"),
            let level = json["level"]?.string.flatMap({ Level(text: $0) }),
            let source = json["source"]?.string.flatMap(Source.init(rawValue:)),
            let message = json["message"]?.string
        else { return nil }
        self.init(
            sequence: sequence,
            time: time,
            level: level,
            source: source,
            event: json["event"]?.string ?? "",
            message: message,
            task: json["task"]?.string,
            plugin: json["plugin"]?.string,
            run: json.runID("run")
        )
    }
}
