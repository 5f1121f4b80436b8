// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostPolicy

extension JSONWriter {
    /// Writes a request as an object.
    package mutating func value(_ request: PendingRequest) {
        object { writer in
            writer.member("id", request.id.description)
            writer.member("task", request.task)
            writer.member("submittedAt", time: request.submittedAt)
            writer.member("earliestBegin", time: request.earliestBegin)
            writer.member("latestBegin", time: request.latestBegin)
            if request.tolerance > 0 {
                writer.member("toleranceSeconds", duration: .nanoseconds(request.tolerance))
            }
            writer.member("priority", request.priority)
            writer.member("attempt", request.attempt)
            writer.members(request.counters)
            writer.member("simulated", request.isSimulated)
            writer.members(request.submitter)
            writer.member("parameters", json: request.parameters)
            writer.member("waitingFor") { writer in
                writer.array { writer in request.waitingFor.forEach { writer.value($0) } }
            }
            if let outlook = request.outlook {
                writer.member("earliestStart", time: outlook.earliest)
                writer.member("certain", outlook.isCertain)
                writer.member("attention", outlook.needsAttention)
            }
            if request.isKept { writer.member("kept", true) }
        }
    }

    mutating func members(_ counters: AttemptCounters) {
        member("failures", counters.failures)
        member("losses", counters.losses)
        member("interruptions", counters.interruptions)
    }

    /// Who submitted, and the run in which a handler did.
    mutating func members(_ submitter: Submitter) {
        switch submitter {
        case .operator: member("submitter", "operator")
        case .manifest: member("submitter", "manifest")
        case .run(let id):
            member("submitter", "run")
            member("submitterRun", id.description)
        case .plugin(let name):
            member("submitter", "plugin")
            member("submitterPlugin", name)
        }
    }

    /// A member that is JSON already, or null if it is none.
    mutating func member(_ key: String, json text: String) {
        self.key(key)
        // See above.
        if let node = try? JSONReader.parse(text) { value(node) } else { null() }
    }
}

extension AttemptCounters {
    init(json: JSONNode) {
        func count(_ key: String) -> Int { json[key]?.int64.map(Int.init(clamping:)) ?? 0 }
        self.init(
            failures: count("failures"),
            losses: count("losses"),
            interruptions: count("interruptions")
        )
    }
}

extension Submitter {
    /// Of an object with the members above; a daemon of an older version writes none.
    init(json: JSONNode) {
        switch json["submitter"]?.string {
        case "manifest": self = .manifest
        case "run": self = json.runID("submitterRun").map { .run($0) } ?? .operator
        case "plugin": self = .plugin(json["submitterPlugin"]?.string ?? "")
        default: self = .operator
        }
    }
}

extension PendingList {
    /// Reads the answer to a question for what waits.
    package init?(json: JSONNode) {
        guard let requests = json["requests"]?.array?.compactMap(PendingRequest.init(json:)) else {
            return nil
        }
        let total = json["total"]?.int64.map(Int.init(clamping:))
        self.init(requests: requests, total: total ?? requests.count)
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
            latestBegin: json.time("latestBegin"),
            tolerance: json.duration("toleranceSeconds").map {
                Int64(clamping: $0.clampedNanoseconds)
            } ?? 0,
            priority: json["priority"]?.int64.map(Int.init(clamping:)) ?? 500,
            parameters: json["parameters"].map { $0.isNull ? "{}" : $0.text } ?? "{}",
            isSimulated: json["simulated"]?.bool ?? false,
            submitter: Submitter(json: json),
            counters: AttemptCounters(json: json),
            waitingFor: json["waitingFor"]?.array?.compactMap(\.string) ?? [],
            outlook: StartOutlook(json: json)
        )
        isKept = json["kept"]?.bool ?? false
    }
}

extension StartOutlook {
    /// Of a request's object; `nil` from a daemon of an older version.
    fileprivate init?(json: JSONNode) {
        guard let isCertain = json["certain"]?.bool else { return nil }
        self.init(
            earliest: json.time("earliestStart"),
            isCertain: isCertain,
            needsAttention: json["attention"]?.bool ?? false
        )
    }
}
