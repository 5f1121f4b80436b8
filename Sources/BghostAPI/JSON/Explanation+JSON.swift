// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostModel
internal import BghostPolicy

extension JSONWriter {
    /// Writes the members of an explanation, for an object that has its schema already.
    package mutating func members(_ answer: TaskExplanation) {
        member("task", answer.task)
        member("at", time: answer.at)
        member("state", answer.state)
        member("requests") { writer in
            writer.array { writer in answer.requests.forEach { writer.value($0) } }
        }
        member("total", answer.total)
        member("running") { writer in
            writer.array { writer in answer.running.forEach { writer.value($0) } }
        }
        key("last")
        if let last = answer.last { value(last) } else { null() }
        key("schedule")
        if let schedule = answer.schedule {
            object { writer in
                writer.member("text", schedule.text)
                writer.member("next", time: schedule.next)
            }
        } else {
            null()
        }
        key("dead")
        if let dead = answer.dead { value(dead) } else { null() }
        member("simulation", answer.simulation)
    }

    private mutating func value(_ explanation: Explanation) {
        object { writer in
            writer.key("request")
            writer.value(explanation.request)
            writer.member("earliestStart", time: explanation.earliestStart)
            writer.member("certain", explanation.isCertain)
            writer.member("counterfactual", explanation.counterfactual)
            writer.member("gates") { writer in
                writer.array { writer in explanation.gates.forEach { writer.value($0) } }
            }
        }
    }
}

extension TaskExplanation {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let task = json["task"]?.string, let at = json.time("at"),
            let requests = json["requests"]?.array
        else { return nil }
        self.init(
            task: task,
            at: at,
            requests: requests.compactMap { Explanation(json: $0, at: at) },
            total: json["total"]?.int64.map(Int.init(clamping:)),
            running: json["running"]?.array?.compactMap(RunRecord.init(json:)) ?? [],
            last: json["last"].flatMap(RunRecord.init(json:)),
            schedule: json["schedule"].flatMap(ScheduleOutlook.init(json:)),
            dead: json["dead"].flatMap(DeadLetter.init(json:)),
            simulation: SimulationStatus(member: json["simulation"])
        )
    }
}

extension Explanation {
    fileprivate init?(json: JSONNode, at: Int64) {
        guard let request = json["request"].flatMap(PendingRequest.init(json:)),
            let gates = json["gates"]?.array
        else { return nil }
        // A newer daemon may have gates that this program does not know.
        self.init(request: request, gates: gates.compactMap(Gate.init(json:)), at: at)
    }
}

extension ScheduleOutlook {
    fileprivate init?(json: JSONNode) {
        guard let text = json["text"]?.string else { return nil }
        self.init(text: text, next: json.time("next"))
    }
}
