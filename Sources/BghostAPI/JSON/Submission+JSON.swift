// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostPolicy

extension JSONWriter {
    /// Writes a submission as an object; its parameters must be JSON.
    package mutating func value(_ submission: Submission) {
        object { writer in
            writer.member("task", submission.task)
            writer.member("parameters", raw: submission.parameters)
            if let earliest = submission.earliestBegin {
                writer.member("earliestBegin", time: earliest)
            }
            if let latest = submission.latestBegin { writer.member("latestBegin", time: latest) }
            if let tolerance = submission.tolerance {
                writer.member("toleranceSeconds", duration: .nanoseconds(tolerance))
            }
            if submission.onConflict != .replace {
                writer.member("onConflict", submission.onConflict.rawValue)
            }
            if let priority = submission.priority { writer.member("priority", priority) }
            if submission.ignoresRequirements { writer.member("ignoresRequirements", true) }
        }
    }
}

extension Submission {
    /// Reads the body of a submission strictly: a key that is unknown or of the wrong type is an
    /// error, since to drop it would run something else than what was asked for.
    ///
    /// - Parameter task: the task that the path names; `nil` if the body must.
    package init(json: JSONNode, task: String?) throws(ControlFault) {
        guard let members = json.object else {
            throw .badRequest("the body is \(json.typeName) where an object is needed")
        }
        var submission = Submission(task: task ?? "")
        for member in members {
            switch (member.key, member.value.value) {
            case ("task", .string(let name)) where task == nil || task == name:
                submission.task = name
            case ("parameters", .object): submission.parameters = member.value.text
            case ("earliestBegin", .null), ("latestBegin", .null), ("onConflict", .null),
                ("priority", .null), ("toleranceSeconds", .null):
                break
            case ("earliestBegin", .string(let text)):
                submission.earliestBegin = try Self.time(text, "earliestBegin")
            case ("latestBegin", .string(let text)):
                submission.latestBegin = try Self.time(text, "latestBegin")
            case ("toleranceSeconds", .number):
                let duration = json.duration("toleranceSeconds").map(\.clampedNanoseconds)
                guard let tolerance = duration, tolerance <= Self.toleranceMax else {
                    throw .badRequest("`toleranceSeconds` is not a number from 0 to 2592000")
                }
                submission.tolerance = Int64(tolerance)
            case ("onConflict", .string(let text)):
                guard let conflict = Conflict(rawValue: text) else {
                    throw .badRequest("`onConflict` is neither \"replace\" nor \"keep\"")
                }
                submission.onConflict = conflict
            case ("priority", .number):
                guard let priority = member.value.int64, (0...1000).contains(priority) else {
                    throw .badRequest("`priority` is not a whole number from 0 to 1000")
                }
                submission.priority = Int(priority)
            case ("ignoresRequirements", .bool(let isIgnoring)):
                submission.ignoresRequirements = isIgnoring
            case ("task", .string): throw .badRequest("the path and `task` name different tasks")
            case ("task", _), ("parameters", _), ("earliestBegin", _), ("latestBegin", _),
                ("toleranceSeconds", _), ("onConflict", _), ("priority", _),
                ("ignoresRequirements", _):
                throw .badRequest("`\(member.key)` must not be \(member.value.typeName)")
            default:
                throw .badRequest("`\(TerminalText.escaped(member.key))` is not a key of a request")
            }
        }
        guard !submission.task.isEmpty else { throw .badRequest("`task` is missing") }
        self = submission
    }

    /// 30 days in nanoseconds.
    private static let toleranceMax: UInt64 = 2_592_000_000_000_000

    private static func time(_ text: String, _ key: String) throws(ControlFault) -> Int64 {
        guard let time = Timestamp.unixNanoseconds(text) else {
            throw .badRequest("`\(key)` is not a time as RFC 3339 has it")
        }
        return time
    }
}
