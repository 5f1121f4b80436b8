// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostModel
import BghostPolicy
import BghostStore

/// Requests and runs whose ids are small numbers.
enum Sample {
    static func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    static func request(_ number: Int, task: String? = nil) -> Request {
        Request(
            id: id(number),
            task: task ?? "t\(number)",
            parameters: "{}",
            submittedAt: Int64(number),
            priority: 500
        )
    }

    /// The run of a request, under way.
    static func begun(
        _ number: Int,
        request: Int,
        task: String = "a",
        epoch: UInt64 = 1
    ) -> RunRecord {
        RunRecord(
            id: id(number),
            request: id(request),
            task: task,
            plugin: "p",
            epoch: epoch,
            limits: RunLimits(kind: .refresh),
            submittedAt: Int64(request)
        )
    }

    static func ended(
        _ number: Int,
        request: Int,
        task: String = "a",
        epoch: UInt64 = 1
    ) -> RunRecord {
        var record = begun(number, request: request, task: task, epoch: epoch)
        record.state = .ended
        record.outcome = .succeeded
        record.endedAt = Int64(number)
        return record
    }

    /// All that a request goes through, in one transaction: the run has this number, and its
    /// request this number and 10,000.
    static func wholeLife(_ number: Int, task: String = "a") -> [StoreChange] {
        let request = number + 10_000
        return [
            .accepted(self.request(request, task: task), replacing: nil),
            .runStarted(begun(number, request: request, task: task)),
            .runEnded(ended(number, request: request, task: task), then: .consumed),
        ]
    }

    /// A request in which every field has a value of its own, at its edge where it has one.
    static var fullRequest: Request {
        Request(
            id: RunID(high: .max, low: .max - 1),
            task: "t/é",
            parameters: #"{"é":[1,null,"\#u{0}"]}"#,
            submittedAt: .max,
            earliestBegin: .min,
            latestBegin: .max,
            tolerance: .min,
            chosenStart: .max,
            priority: .min,
            requirements: RequirementSet(rawValue: .max),
            isManual: true,
            scheduledTime: -1,
            missed: MissedStarts(count: .max, from: .min),
            submitter: .run(id(77)),
            counters: AttemptCounters(failures: 1, losses: 2, interruptions: 3),
            trace: TraceContext(traceHigh: .max, traceLow: 1, span: .max, flags: 1, state: "a=1")
        )
    }

    static var fullRecord: RunRecord {
        RunRecord(
            id: RunID(high: .max, low: 5),
            request: RunID(high: .max, low: .max - 1),
            task: "t/é",
            plugin: "",
            attempt: .max,
            epoch: .max,
            state: .ended,
            outcome: .killed(.protocolFault(.max)),
            stopReason: .quota,
            message: "a\"b\u{0}\n'é",
            result: #"{"a":1}"#,
            progress: RunProgress(done: 1, total: .max, phase: "half"),
            limits: RunLimits(runtime: .nanoseconds(1), grace: .seconds(Int64.max)),
            pid: .min,
            submittedAt: .min,
            startedAt: 2,
            endedAt: .max,
            duration: Duration(secondsComponent: -3, attosecondsComponent: -7),
            usage: RunUsage(cpu: .zero, peakMemoryBytes: .max, outputBytes: .max)
        )
    }

    /// Each outcome and each reason of a kill, with details at their edges.
    static let outcomes = Outcome.Word.allCases.flatMap(outcomes)

    private static func outcomes(of word: Outcome.Word) -> [Outcome] {
        switch word {
        case .succeeded: [.succeeded]
        case .failed: [.failed]
        case .cancelledClean: [.cancelledClean]
        case .killed: (KillReason.allCases + [.protocolFault(.max)]).map { .killed($0) }
        case .crashed:
            [
                .crashed(.exited(.min)), .crashed(.exited(0)), .crashed(.signalled(11)),
                .crashed(.signalled(-1)),
            ]
        case .lost: [.lost]
        case .abandoned: [.abandoned]
        }
    }
}

extension Sample {
    /// With every field that the thirteenth version has.
    static var fullRequestOfTheThirteenth: Request {
        var request = fullRequest
        request.trace = nil
        return request
    }

    /// With every field that the first version has.
    static var fullRequestOfTheFirst: Request {
        var request = fullRequestOfTheThirteenth
        request.tolerance = 0
        request.chosenStart = nil
        return request
    }
}
