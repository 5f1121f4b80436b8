// SPDX-License-Identifier: Apache-2.0

package import BghostCore

extension JSONWriter {
    /// Writes a request as an object.
    package mutating func value(_ request: PendingRequest) {
        object { writer in
            writer.member("id", request.id.description)
            writer.member("task", request.task)
            writer.member("submittedAt", time: request.submittedAt)
            writer.member("earliestBegin", time: request.earliestBegin)
            writer.member("priority", request.priority)
            writer.key("parameters")
            if let parameters = try? JSONReader.parse(request.parameters) {
                writer.value(parameters)
            } else {
                writer.null()
            }
            writer.member("waitingFor") { writer in
                writer.array { writer in request.waitingFor.forEach { writer.value($0) } }
            }
        }
    }
}

extension PendingRequest {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let id = json.runID("id"), let task = json["task"]?.string,
            let submittedAt = json.time("submittedAt")
        else { return nil }
        self.init(
            id: id,
            task: task,
            submittedAt: submittedAt,
            earliestBegin: json.time("earliestBegin"),
            priority: json["priority"]?.int64.map(Int.init(clamping:)) ?? 500,
            parameters: json["parameters"].map { $0.isNull ? "{}" : $0.text } ?? "{}",
            waitingFor: json["waitingFor"]?.array?.compactMap(\.string) ?? []
        )
    }
}
