// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import BghostCore
public import FoundationEssentials

extension TestHost {
    /// A run, as it stood when the test asked.
    public struct Run: Sendable {
        /// The task.
        public let identifier: String
        /// The handler that carries it out.
        public let handler: String
        /// 1 for the first run of a request.
        public let attempt: Int
        /// What the handler was given, a JSON object.
        public let parameters: String
        /// How it ended; `nil` while it is under way.
        public let outcome: Outcome?
        /// Why it was asked to stop; `nil` if it was not.
        public let stopReason: BackgroundTasks.StopReason?
        /// What the handler, or the host, has to say about its end; "" if nothing.
        public let message: String
        /// What the handler returned, in JSON; "" if nothing.
        public let result: String
        /// What the handler said last of how far it is; `nil` if nothing.
        public let progress: Progress?
        /// When it began.
        public let startedAt: Date
        /// When it ended; `nil` while it is under way.
        public let endedAt: Date?
        /// How long it took, on the host's clock; `nil` while it is under way.
        public let duration: Duration?
    }

    /// How a run ended.
    public enum Outcome: String, Hashable, Sendable {
        case succeeded
        /// The handler threw, or could not be called.
        case failed
        /// It was asked to stop and did; `cancelledClean` in the daemon's record.
        case cancelled
        /// It did not stop within its grace.
        case killed
    }

    /// How far a handler said that it was.
    public struct Progress: Hashable, Sendable {
        /// How much is done.
        public let done: UInt64
        /// How much there is; 0 is unknown.
        public let total: UInt64
        /// What it was doing.
        public let phase: String
    }
}

extension TestHost.Run {
    /// The result as a value.
    ///
    /// - Throws: `DecodingError` if it does not fit the type, or if there is none.
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
    fileprivate init(_ outcome: BghostCore.Outcome) {
        self =
            switch outcome {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelledClean: .cancelled
            // The others are of processes, which a test has none of.
            case .killed, .crashed, .lost, .abandoned: .killed
            }
    }
}

extension BackgroundTasks.StopReason {
    fileprivate init(_ reason: BghostCore.StopReason) {
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
