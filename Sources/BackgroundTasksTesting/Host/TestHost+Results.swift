// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import BghostModel
internal import BghostPolicy
public import FoundationEssentials

/// The results of the test.
extension TestHost {
    /// A request that waits for its run.
    public struct PendingRequest: Sendable {
        /// The identifier of the task.
        public let identifier: String
        /// The submitted parameters, a JSON object; the task's own parameters are not included.
        public let parameters: String
        /// The time before which its run does not start; `nil` means at once.
        public let earliestBeginDate: Date?
        /// The number of the next run; more than 1 if an earlier run failed and is retried.
        public let attempt: Int
        /// Why its run does not start now, in the words of `bghost why`; empty for a dead request.
        public let waitingFor: [String]
        /// The checkpoint that its next run gets; `nil` if no run has saved one.
        public let checkpoint: Data?
    }

    /// A line that a handler wrote to the log.
    public struct LogLine: Hashable, Sendable {
        /// The identifier of the task whose run wrote it; `nil` outside a run or after its end.
        public let identifier: String?
        /// The level of the line.
        public let level: LogLevel
        /// The text.
        public let message: String
    }

    /// All runs, in the order in which they started.
    public var runs: [Run] { core.read { $0.history.map(Run.init) } }

    /// All pending requests, ordered by identifier.
    public var pending: [PendingRequest] {
        core.read { engine in
            engine.scheduler.requests(of: nil).map { request in
                let gates = engine.scheduler.gates(of: request, now: engine.now)
                return PendingRequest(
                    request,
                    gates.filter { !$0.isOpen }.map(\.sentence),
                    engine.checkpoints[request.id]
                )
            }
        }
    }

    /// Requests that have failed as often as permitted, in the order in which they died.
    public var deadLetters: [PendingRequest] {
        core.read { engine in
            engine.dead.map { PendingRequest($0, [], engine.checkpoints[$0.id]) }
        }
    }

    /// The lines that handlers wrote to the log.
    public var logs: [LogLine] { core.read { $0.logs } }

    /// Killed runs whose handlers are still running.
    ///
    /// Their calls have no effect, and they occupy a thread or memory of the test process.
    public var abandoned: [Run] {
        core.read { engine in engine.abandoned.values.sorted().map { Run(engine.history[$0]) } }
    }
}

extension TestHost.PendingRequest {
    fileprivate init(_ request: Request, _ reasons: [String], _ checkpoint: [UInt8]?) {
        identifier = request.task
        parameters = request.parameters
        earliestBeginDate = request.earliestBegin.map(Date.init(unixNanoseconds:))
        attempt = request.attempt
        waitingFor = reasons
        self.checkpoint = checkpoint.map { Data($0) }
    }
}

extension TestHost.LogLine {
    init(level: UInt8, message: String, task: String?) {
        identifier = task
        self.level = LogLevel(rawValue: UInt32(level)) ?? .fault
        self.message = message
    }
}
