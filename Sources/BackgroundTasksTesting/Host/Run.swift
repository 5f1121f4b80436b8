// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
public import BackgroundTasks
public import FoundationEssentials

extension TestHost {
    /// A snapshot of a run, taken when the test asked for it.
    public struct Run: Sendable {
        /// The identifier of the task.
        public let identifier: String
        /// The name of the handler that performs the task.
        public let handler: String
        /// 1 for the first run of a request.
        public let attempt: Int
        /// The handler's parameters, a JSON object.
        public let parameters: String
        /// How the run ended; `nil` while it is in progress.
        public let outcome: Outcome?
        /// Why the run was cancelled; `nil` if it was not.
        public let stopReason: BackgroundTasks.StopReason?
        /// The message of the handler or the host about the end; "" if there is none.
        public let message: String
        /// The type of the error with which the handler failed, and where it was made; `nil` if unknown, or
        /// if the run did not fail.
        public let error: HandlerError?
        /// The handler's result as JSON; "" if there is none.
        public let result: String
        /// The last progress that the handler reported; `nil` if it reported none.
        public let progress: Progress?
        /// When the run started.
        public let startedAt: Date
        /// When the run ended; `nil` while it is in progress.
        public let endedAt: Date?
        /// The duration on the host's clock; `nil` while the run is in progress.
        public let duration: Duration?
    }

    /// How a run ended.
    public enum Outcome: String, Hashable, Sendable {
        case succeeded
        /// The handler threw, or could not be called.
        case failed
        /// The run was cancelled and stopped in time; `cancelledClean` in the daemon's record.
        case cancelled
        /// The run did not stop within its grace.
        case killed
    }

    /// The error with which a handler failed.
    public struct HandlerError: Hashable, Sendable {
        /// The name of its type, with the module; "" if unknown.
        public let type: String
        /// The source file, as `#fileID` has it; "" if unknown.
        public let file: String
        /// The line of the file; 0 if unknown.
        public let line: Int
    }

    /// The progress that a handler reported.
    public struct Progress: Hashable, Sendable {
        /// The finished units of work.
        public let done: UInt64
        /// All units of work; 0 if unknown.
        public let total: UInt64
        /// The current phase.
        public let phase: String
    }
}

extension TestHost.Run {
    /// Decodes the result.
    ///
    /// - Parameter type: the type to decode.
    /// - Returns: the decoded result.
    /// - Throws: `DecodingError` if the result does not match the type, or if there is none.
    public func result<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(result.utf8))
    }

    init(_ run: PastRun) {
        let record = run.record
        identifier = record.task
        handler = run.handler
        attempt = record.attempt
        parameters = run.parameters
        outcome = record.outcome.map(TestHost.Outcome.init)
        stopReason = record.stopReason.map(BackgroundTasks.StopReason.init)
        message = record.message
        error = record.details?.error.map {
            TestHost.HandlerError(type: $0.type, file: $0.file, line: Int($0.line))
        }
        result = record.result
        progress = record.progress.map {
            TestHost.Progress(done: $0.done, total: $0.total, phase: $0.phase)
        }
        startedAt = Date(unixNanoseconds: record.startedAt ?? record.submittedAt)
        endedAt = record.endedAt.map(Date.init(unixNanoseconds:))
        duration = record.duration
    }
}

extension TestHost.Outcome {
    fileprivate init(_ outcome: BghostModel.Outcome) {
        self =
            switch outcome {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelledClean: .cancelled
            // The other outcomes concern processes, which a test does not have.
            case .killed, .crashed, .lost, .abandoned: .killed
            }
    }
}

extension BackgroundTasks.StopReason {
    fileprivate init(_ reason: BghostModel.StopReason) {
        self =
            switch reason {
            case .expired: .expired
            case .user: .user
            case .drain: .drain
            case .condition: .condition
            case .quota: .quota
            }
    }
}
