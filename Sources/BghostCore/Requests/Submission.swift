// SPDX-License-Identifier: Apache-2.0

/// What somebody asks to be run: an operator, a handler, or the manifest itself.
public struct Submission: Equatable, Sendable {
    public var task: String
    /// A JSON object, laid over the task's own parameters key by key.
    public var parameters: String
    /// Not before this time, Unix nanoseconds; `nil` is "as soon as allowed".
    public var earliestBegin: Int64?
    /// Above the task's own priority or below it; `nil` takes the task's.
    public var priority: Int?

    public init(
        task: String,
        parameters: String = "{}",
        earliestBegin: Int64? = nil,
        priority: Int? = nil
    ) {
        self.task = task
        self.parameters = parameters
        self.earliestBegin = earliestBegin
        self.priority = priority
    }
}

/// Why a submission is not accepted. The first four raw values are those of
/// `BGTaskSchedulerErrorCode`; ours begin at 100.
public enum SubmitErrorCode: Int, Equatable, Sendable, CaseIterable {
    case unavailable = 1
    case tooManyPendingTaskRequests = 2
    case notPermitted = 3
    case immediateRunIneligible = 4
    case payloadTooLarge = 100
    case badParameters = 101
    case storeFailed = 102
}

/// A refusal with a sentence that says what to do about it.
public struct SubmitError: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: SubmitErrorCode
    public var message: String

    public init(_ code: SubmitErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
