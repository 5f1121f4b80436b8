// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts

/// A submission: a request to run a task, before it is accepted.
package struct Submission: Equatable, Codable, Sendable {
    package var task: String
    /// The kind that its task must have; `nil` accepts any kind.
    package var kind: TaskKind?
    /// A JSON object; its keys override those of the task's own parameters.
    package var parameters: String
    /// The run does not start before this time, Unix nanoseconds; `nil` means as soon as possible.
    package var earliestBegin: Int64?
    /// The run does not start after this time, Unix nanoseconds; `nil` means no limit.
    package var latestBegin: Int64?
    /// How much later than its earliest date, or than now, it may start to share a wake-up with other
    /// requests, nanoseconds; `nil` means the task's tolerance.
    package var tolerance: Int64?
    /// The effect on a pending request of its task.
    package var onConflict: Conflict
    /// The priority; `nil` means the task's own.
    package var priority: Int?
    /// The requirements in addition to those of the task.
    package var requirements: RequirementSet
    /// Whether a manual run starts although its requirements are unmet.
    package var ignoresRequirements: Bool
    /// The place in a trace from which it is submitted; `nil` if there is none.
    package var trace: TraceContext?

    package init(
        task: String,
        kind: TaskKind? = nil,
        parameters: String = "{}",
        earliestBegin: Int64? = nil,
        latestBegin: Int64? = nil,
        tolerance: Int64? = nil,
        onConflict: Conflict = .replace,
        priority: Int? = nil,
        requirements: RequirementSet = [],
        ignoresRequirements: Bool = false,
        trace: TraceContext? = nil
    ) {
        self.task = task
        self.kind = kind
        self.parameters = parameters
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.tolerance = tolerance
        self.onConflict = onConflict
        self.priority = priority
        self.requirements = requirements
        self.ignoresRequirements = ignoresRequirements
        self.trace = trace
    }
}

extension Submission {
    package typealias Conflict = ConflictPolicy
}

/// The reason for which a submission is refused.
///
/// The first four raw values are those of `BGTaskSchedulerErrorCode`; those of bghost start at 100.
package enum SubmitErrorCode: Int, Equatable, Sendable, CaseIterable {
    case unavailable = 1
    case tooManyPendingTaskRequests = 2
    case notPermitted = 3
    case immediateRunIneligible = 4
    case payloadTooLarge = 100
    case badParameters = 101
    case storeFailed = 102
    case pastLatestBegin = 103
    /// The task is of another kind.
    case wrongKind = 104
    /// The parameters do not fit their schema.
    case unfitParameters = 105
}

/// A refusal, with a message that says how to resolve it.
package struct SubmitError: Error, Equatable, Sendable, CustomStringConvertible {
    package var code: SubmitErrorCode
    package var message: String
    /// The faults one by one, if there can be several.
    package var details: [String]

    package init(_ code: SubmitErrorCode, _ message: String, details: [String] = []) {
        self.code = code
        self.message = message
        self.details = details
    }

    package var description: String {
        details.isEmpty ? message : "\(message): " + details.joined(separator: "; ")
    }
}
