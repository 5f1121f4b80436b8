// SPDX-License-Identifier: Apache-2.0

/// What somebody asks to be run: an operator, a handler, or the manifest itself.
package struct Submission: Equatable, Codable, Sendable {
    package var task: String
    /// A JSON object, laid over the task's own parameters key by key.
    package var parameters: String
    /// Not before this time, Unix nanoseconds; `nil` is "as soon as allowed".
    package var earliestBegin: Int64?
    /// Not after this time, Unix nanoseconds; `nil` is "whenever it can".
    package var latestBegin: Int64?
    /// What becomes of it if a request of its task is pending.
    package var onConflict: Conflict
    /// Above the task's own priority or below it; `nil` takes the task's.
    package var priority: Int?
    /// What must hold of the machine besides what the task requires.
    package var requirements: RequirementSet
    /// Whether a triggered run begins although the machine does not offer what it requires.
    package var ignoresRequirements: Bool

    package init(
        task: String,
        parameters: String = "{}",
        earliestBegin: Int64? = nil,
        latestBegin: Int64? = nil,
        onConflict: Conflict = .replace,
        priority: Int? = nil,
        requirements: RequirementSet = [],
        ignoresRequirements: Bool = false
    ) {
        self.task = task
        self.parameters = parameters
        self.earliestBegin = earliestBegin
        self.latestBegin = latestBegin
        self.onConflict = onConflict
        self.priority = priority
        self.requirements = requirements
        self.ignoresRequirements = ignoresRequirements
    }
}

extension Submission {
    /// What a submission does to the pending request of its task.
    package enum Conflict: String, Equatable, Codable, Sendable, CaseIterable {
        /// It takes the place of that request, as Apple's does.
        case replace
        /// It is dropped, and that request is the answer.
        case keep
        /// It takes the place of that request and keeps its dates: whoever brings newer parameters
        /// again and again does not put it off.
        case update
    }
}

/// Why a submission is not accepted.
///
/// The first four raw values are those of `BGTaskSchedulerErrorCode`; ours begin at 100.
package enum SubmitErrorCode: Int, Equatable, Sendable, CaseIterable {
    case unavailable = 1
    case tooManyPendingTaskRequests = 2
    case notPermitted = 3
    case immediateRunIneligible = 4
    case payloadTooLarge = 100
    case badParameters = 101
    case storeFailed = 102
    case pastLatestBegin = 103
}

/// A refusal with a sentence that says what to do about it.
package struct SubmitError: Error, Equatable, Sendable, CustomStringConvertible {
    package var code: SubmitErrorCode
    package var message: String

    package init(_ code: SubmitErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
