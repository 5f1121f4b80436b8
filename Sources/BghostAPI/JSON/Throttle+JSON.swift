// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel
internal import BghostPolicy

extension JSONWriter {
    /// Writes the throttle points of a task as an object.
    package mutating func value(_ status: ThrottleStatus) {
        object { writer in
            writer.member("task", status.task)
            writer.member("points", status.points)
            writer.member("mode", status.mode.rawValue)
            writer.member("delaySeconds", duration: status.delay)
            writer.member("nextStart", time: status.nextStart)
            writer.member("runs") { writer in
                writer.array { writer in
                    for run in status.runs {
                        writer.object { writer in
                            writer.member("run", run.run.description)
                            writer.member("points", run.points)
                            writer.member("killed", run.isKilled)
                            writer.member(
                                "stoppedAfterSeconds",
                                duration: Duration(nanoseconds: run.stoppedAfter)
                            )
                            writer.member("endedAt", time: run.endedAt)
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
            let mode = json["mode"]?.string.flatMap(ThrottlePolicy.Mode.init)
        else { return nil }
        self.init(
            task: task,
            points: Int(clamping: points),
            mode: mode,
            delay: json.duration("delaySeconds") ?? .zero,
            nextStart: json.time("nextStart"),
            runs: json["runs"]?.array?.compactMap { run in
                guard let id = run.runID("run"), let endedAt = run.time("endedAt"),
                    let isKilled = run["killed"]?.bool,
                    let stoppedAfter = run.duration("stoppedAfterSeconds")
                else { return nil }
                return LateRun(
                    run: id,
                    stoppedAfter: stoppedAfter.clampedNanoseconds,
                    isKilled: isKilled,
                    endedAt: endedAt
                )
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
