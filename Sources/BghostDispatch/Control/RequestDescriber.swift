// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
internal import BghostPolicy
package import BghostServices

/// Describes pending requests: what each waits for, and when it can start.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing.
package final class RequestDescriber {
    private let dispatcher: Dispatcher
    private let clock: DaemonClock
    private let wakeDelay: (Request) -> Int64?

    /// - Parameter wakeDelay: by how much the limiter of a session's wakes delays a request, nanoseconds;
    ///   `nil` if it does not.
    package init(
        _ dispatcher: Dispatcher,
        _ clock: DaemonClock,
        wakeDelay: @escaping (Request) -> Int64?
    ) {
        self.dispatcher = dispatcher
        self.clock = clock
        self.wakeDelay = wakeDelay
    }

    /// A pending request with its unmet conditions.
    package func describe(_ request: Request) -> PendingRequest {
        describe(request, gates(of: request, now: clock.moment))
    }

    /// The pending request of a task after a submission.
    package func describe(_ accepted: RequestIntake.Accepted) -> PendingRequest {
        var described = describe(accepted.request)
        described.isKept = accepted.isEarlier
        return described
    }

    /// A pending request with gates that ``gates(of:now:ahead:)`` returned.
    func describe(_ request: Request, _ gates: [Gate]) -> PendingRequest {
        var described = PendingRequest(request)
        described.waitingFor = gates.filter { !$0.isOpen }.map(\.sentence)
        described.outlook = StartOutlook(
            gates: gates,
            latest: request.latestBegin,
            at: clock.wall
        )
        return described
    }

    /// The gates of a request, with the reason if the limiter of wakes delays it.
    ///
    /// - Parameter ahead: the number of requests that start before it; `nil` if it is not known.
    func gates(of request: Request, now: Moment, ahead: Int? = nil) -> [Gate] {
        let gates = dispatcher.scheduler.gates(of: request, now: now, ahead: ahead)
        guard request.counters.runs == 0, let delay = wakeDelay(request) else { return gates }
        return gates.map { gate in
            guard gate.kind == .notBefore, !gate.isOpen else { return gate }
            var gate = gate
            let text = DurationText.of(nanoseconds: UInt64(max(0, delay)))
            gate.source =
                "its handler begins new transfers at every wake, so it is woken every \(text)"
            return gate
        }
    }
}

extension PendingRequest {
    /// A request with what it has wherever it is stored: why and when it starts only the scheduler knows.
    init(_ request: Request) {
        self.init(
            id: request.id,
            task: request.task,
            submittedAt: request.submittedAt,
            earliestBegin: request.earliestBegin,
            latestBegin: request.latestBegin,
            tolerance: request.tolerance,
            priority: request.priority,
            parameters: request.parameters,
            isManual: request.isManual,
            submitter: request.submitter,
            counters: request.counters
        )
    }
}
