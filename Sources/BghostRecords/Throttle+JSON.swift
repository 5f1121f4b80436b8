// SPDX-License-Identifier: Apache-2.0

package import BghostCore

extension JSONWriter {
    /// Writes what a task owes as an object.
    package mutating func value(_ status: ThrottleStatus) {
        object { writer in
            writer.member("task", status.task)
            writer.member("points", status.points)
            writer.member("level", status.level)
            writer.member("delaySeconds", duration: status.delay)
            writer.member("nextStart", time: status.nextStart)
            writer.member("causes") { writer in
                writer.array { writer in
                    for cause in status.causes {
                        writer.object { writer in
                            writer.member("run", cause.run.description)
                            writer.member("outcome", cause.outcome.text)
                            writer.member("endedAt", time: cause.endedAt)
                        }
                    }
                }
            }
        }
    }

    /// Writes the members of what became of a plugin's switch.
    package mutating func members(_ answer: PluginSwitch) {
        member("plugin", answer.plugin)
        member("enabled", answer.off == nil)
        member("reason", answer.off)
        member("stopping") { writer in
            writer.array { writer in answer.stopping.forEach { writer.value($0.description) } }
        }
        member("running") { writer in
            writer.array { writer in answer.running.forEach { writer.value($0.description) } }
        }
    }
}

extension ThrottleStatus {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let task = json["task"]?.string, let points = json["points"]?.int64,
            let level = json["level"]?.int64
        else { return nil }
        self.init(
            task: task,
            points: Int(clamping: points),
            level: Int(clamping: level),
            nextStart: json.time("nextStart"),
            causes: json["causes"]?.array?.compactMap { cause in
                guard let run = cause.runID("run"), let endedAt = cause.time("endedAt"),
                    let outcome = cause["outcome"]?.string.flatMap({ Outcome(text: $0) })
                else { return nil }
                return Cause(run: run, outcome: outcome, endedAt: endedAt)
            } ?? []
        )
    }
}

extension PluginSwitch {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let plugin = json["plugin"]?.string, let isOn = json["enabled"]?.bool else {
            return nil
        }
        func runs(_ key: String) -> [RunID] {
            json[key]?.array?.compactMap { $0.string.flatMap { RunID($0) } } ?? []
        }
        self.init(
            plugin: plugin,
            off: isOn ? nil : json["reason"]?.string ?? "",
            stopping: runs("stopping"),
            running: runs("running")
        )
    }
}
