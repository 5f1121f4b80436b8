// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import BghostCore
public import FoundationEssentials

/// What has become of it all.
extension TestHost {
    /// A request that waits for its run.
    public struct PendingRequest: Sendable {
        /// The task.
        public let identifier: String
        /// As submitted, a JSON object; the task's own parameters lie beneath it.
        public let parameters: String
        /// Its run does not begin before this time; `nil` is at once.
        public let earliestBeginDate: Date?
        /// The number of the run that it waits for; more than 1 after one that is tried again.
        public let attempt: Int
        /// What keeps it from its run now, in the words of `bghost why`; empty for one that has died.
        public let waitingFor: [String]
    }

    /// A line that a handler wrote into the log.
    public struct LogLine: Hashable, Sendable {
        /// The task whose run wrote it; `nil` outside a run, or after its end.
        public let identifier: String?
        /// How much it matters.
        public let level: LogLevel
        /// The text.
        public let message: String
    }

    /// All runs, in the order in which they began.
    public var runs: [Run] { core.look { $0.history.map(Run.init) } }

    /// All that waits for a run, in the order of identifiers.
    public var pending: [PendingRequest] {
        core.look { engine in
            engine.scheduler.requests(of: nil).map { request in
                let gates = engine.scheduler.gates(of: request, now: engine.now)
                return PendingRequest(request, gates.filter { !$0.isOpen }.map(\.sentence))
            }
        }
    }

    /// Requests that have failed as often as they may, in the order in which they died.
    public var deadLetters: [PendingRequest] {
        core.look { engine in engine.dead.map { PendingRequest($0, []) } }
    }

    /// What handlers wrote into the log.
    public var logs: [LogLine] { core.look { $0.logs } }

    /// Runs that were killed, and whose handlers go on all the same: what they do is lost, and they
    /// hold up a thread or memory of the test process.
    public var abandoned: [Run] {
        core.look { engine in engine.abandoned.values.sorted().map { Run(engine.history[$0]) } }
    }
}

extension TestHost.PendingRequest {
    fileprivate init(_ request: Request, _ reasons: [String]) {
        identifier = request.task
        parameters = request.parameters
        earliestBeginDate = request.earliestBegin.map(Date.init(unixNanoseconds:))
        attempt = request.attempt
        waitingFor = reasons
    }
}

extension TestHost.LogLine {
    init(_ line: LogCall, task: String?) {
        identifier = task
        level = LogLevel(rawValue: line.level) ?? .fault
        message = line.message
    }
}
