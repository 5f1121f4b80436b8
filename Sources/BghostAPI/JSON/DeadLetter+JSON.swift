// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostPolicy

extension JSONWriter {
    /// Writes a dead letter as an object.
    package mutating func value(_ letter: DeadLetter) {
        object { writer in
            let request = letter.request
            writer.member("id", request.id.description)
            writer.member("task", request.task)
            writer.member("reason", letter.reason)
            writer.member("diedAt", time: letter.diedAt)
            writer.member("run", letter.run.description)
            writer.member("submittedAt", time: request.submittedAt)
            writer.member("latestBegin", time: request.latestBegin)
            writer.member("priority", request.priority)
            writer.members(request.counters)
            writer.members(request.submitter)
            writer.member("parameters", json: request.parameters)
        }
    }

    /// Writes the members of what became of dead letters.
    package mutating func members(_ change: DeadLetterChange) {
        member("requests", change.done)
        member("refused", change.refused)
        member("more", change.hasMore)
    }

    private mutating func member(_ key: String, _ items: [DeadLetterChange.Item]) {
        member(key) { writer in
            writer.array { writer in
                for item in items {
                    writer.object { writer in
                        writer.member("id", item.id.description)
                        writer.member("task", item.task)
                    }
                }
            }
        }
    }
}

extension DeadLetter {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let id = json.runID("id"), let task = json["task"]?.string,
            let run = json.runID("run"), let diedAt = json.time("diedAt"),
            let submittedAt = json.time("submittedAt")
        else { return nil }
        self.init(
            request: Request(
                id: id,
                task: task,
                parameters: json["parameters"].map { $0.isNull ? "{}" : $0.text } ?? "{}",
                submittedAt: submittedAt,
                latestBegin: json.time("latestBegin"),
                priority: json["priority"]?.int64.map(Int.init(clamping:)) ?? 500,
                submitter: Submitter(json: json),
                counters: AttemptCounters(json: json)
            ),
            reason: json["reason"]?.string ?? "",
            run: run,
            diedAt: diedAt
        )
    }
}

extension DeadLetterChange {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let done = json["requests"]?.array else { return nil }
        self.init()
        self.done = done.compactMap(Item.init(json:))
        refused = json["refused"]?.array?.compactMap(Item.init(json:)) ?? []
        hasMore = json["more"]?.bool ?? false
    }
}

extension DeadLetterChange.Item {
    fileprivate init?(json: JSONNode) {
        guard let id = json.runID("id"), let task = json["task"]?.string else { return nil }
        self.init(id: id, task: task)
    }
}
