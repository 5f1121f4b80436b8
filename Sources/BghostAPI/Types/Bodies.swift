// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

extension API {
    /// The body of `POST /v1/submit` and of `POST /v1/tasks/ID/trigger`.
    package struct SubmitBody: Codable, Equatable, Sendable {
        /// The identifier of the task; may be absent if the path names it.
        package var task: String?
        /// A JSON object; its keys override those of the task's own parameters.
        package var parameters: JSONPart?
        /// The run does not start before this time, as RFC 3339 has it; absent: as soon as possible.
        package var earliestBegin: String?
        /// The run does not start after this time, as RFC 3339 has it; absent: no limit.
        package var latestBegin: String?
        /// How much later it may start to share a wake-up, seconds, from 0 to 2592000 (30 days); absent: the
        /// task's own tolerance.
        package var toleranceSeconds: Double?
        /// What becomes of the pending request of the task; absent: `replace`.
        package var onConflict: Submission.Conflict?
        /// A whole number from 0 to 1000; absent: the task's own priority.
        package var priority: Int?
        /// Whether a manual run starts although its requirements are unmet; absent: false.
        package var ignoresRequirements: Bool?
        /// The caller's place in a trace, as W3C Trace Context has it; absent: that of the header of the
        /// same name, if there is one.
        package var traceparent: String?
        /// What vendors add to `traceparent`; it needs that field.
        package var tracestate: String?
    }
}

extension API.SubmitBody: RequestBody {
    package static let keys: Set<String> = [
        "task", "parameters", "earliestBegin", "latestBegin", "toleranceSeconds", "onConflict",
        "priority", "ignoresRequirements", "traceparent", "tracestate",
    ]

    package static let nullableKeys: Set<String> = [
        "earliestBegin", "latestBegin", "toleranceSeconds", "onConflict", "priority",
        "traceparent", "tracestate",
    ]

    package static let objectKeys: Set<String> = ["parameters"]

    package static let integerKeys: Set<String> = ["priority"]

    package static let rules = [
        "earliestBegin": "is not a time from 1677 to 2262 as RFC 3339 has it",
        "latestBegin": "is not a time from 1677 to 2262 as RFC 3339 has it",
        "toleranceSeconds": "is not a number from 0 to 2592000",
        "onConflict": "is none of "
            + Submission.Conflict.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
        "priority": "is not a whole number from 0 to 1000",
    ]

    /// The body of a submission; its parameters must be JSON.
    package init(_ submission: Submission) {
        self.init(
            task: submission.task,
            parameters: JSONPart(submission.parameters),
            earliestBegin: submission.earliestBegin.map(RFC3339.json),
            latestBegin: submission.latestBegin.map(RFC3339.json),
            toleranceSeconds: submission.tolerance.map { Seconds.json(.nanoseconds($0)) },
            onConflict: submission.onConflict == .replace ? nil : submission.onConflict,
            priority: submission.priority,
            ignoresRequirements: submission.ignoresRequirements ? true : nil,
            traceparent: submission.trace?.traceparent,
            tracestate: submission.trace.flatMap { $0.state.isEmpty ? nil : $0.state }
        )
    }

    /// The submission that the body asks for.
    ///
    /// - Parameter path: the task that the path names; `nil` if the body must.
    package func submission(path: String?) throws(ControlFault) -> Submission {
        if let path, let task, task != path {
            throw .badRequest("the path and `task` name different tasks")
        }
        var submission = Submission(task: task ?? path ?? "")
        if let parameters {
            submission.parameters = parameters.text
        }
        submission.earliestBegin = try time(earliestBegin, "earliestBegin")
        submission.latestBegin = try time(latestBegin, "latestBegin")
        if let toleranceSeconds {
            guard let tolerance = Seconds.value(toleranceSeconds)?.clampedNanoseconds,
                tolerance <= Self.toleranceMax
            else { throw Self.fault("toleranceSeconds") }
            submission.tolerance = Int64(tolerance)
        }
        if let onConflict { submission.onConflict = onConflict }
        if let priority {
            guard (0...1000).contains(priority) else { throw Self.fault("priority") }
            submission.priority = priority
        }
        submission.ignoresRequirements = ignoresRequirements ?? false
        submission.trace = try trace()
        guard !submission.task.isEmpty else { throw .badRequest("`task` is missing") }
        return submission
    }

    private func trace() throws(ControlFault) -> TraceContext? {
        guard let traceparent else {
            guard tracestate == nil else {
                throw .badRequest("`tracestate` needs `traceparent`")
            }
            return nil
        }
        do throws(TraceContextFault) {
            return try TraceContext(traceparent: traceparent, tracestate: tracestate ?? "")
        } catch {
            throw .badRequest(
                "`traceparent` is not as W3C Trace Context has it: \(error.reason)"
            )
        }
    }

    /// 30 days in nanoseconds.
    private static let toleranceMax: UInt64 = 2_592_000_000_000_000

    private func time(_ text: String?, _ key: String) throws(ControlFault) -> Int64? {
        guard let text else { return nil }
        guard let time = RFC3339.value(text) else { throw Self.fault(key) }
        return time
    }
}

extension API {
    /// The body of `POST /v1/notifications/act`.
    package struct ActBody: Codable, Equatable, Sendable {
        /// The id of the notification.
        package var id: String
        /// Its plugin; required only if several plugins have a notification with this id.
        @OrNull package var plugin: String?
        /// The id of the action.
        package var action: String
        /// The text of the answer; null if there is none.
        @OrNull package var text: String?

        package init(id: String, plugin: String?, action: String, text: String?) {
            self.id = id
            self.plugin = plugin
            self.action = action
            self.text = text
        }

        /// Reads the body of a request; unknown keys are ignored.
        package init(json bytes: [UInt8]) throws(ControlFault) {
            let node = try ControlFault.parsed(bytes)
            guard node.object != nil else {
                throw .badRequest("the body is no JSON object")
            }
            do {
                self = try APICoder.value(from: bytes, parsed: node)
            } catch {
                throw .badRequest("`id` and `action` must be strings")
            }
        }
    }
}
