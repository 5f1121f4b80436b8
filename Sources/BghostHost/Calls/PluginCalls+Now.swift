// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostWire

/// Requests that start at once or are refused (`BG_SUBMIT_NOW`).
extension PluginCalls {
    /// Withdraws a request that was stored and has not started.
    ///
    /// Whether a request starts is decided when it is stored, together with all others that wait. A
    /// check before that could only guess.
    ///
    /// - Returns: what it would wait for; `nil` if it has started.
    func withdrawUnlessStarted(_ request: Request) -> String? {
        guard dispatcher.scheduler.waits(request.id, of: request.task) else { return nil }
        let gates = dispatcher.query { $0.gates(of: request, now: clock.moment) }
        // The plugin may have submitted another request meanwhile, which stays.
        if dispatcher.scheduler.pendingOrAppended(request.task)?.id == request.id {
            withdraw(request.task)
        }
        let closed = gates.first { !$0.isOpen }
        return closed.map { gate in
            gate.kind.rawValue + (gate.name.isEmpty ? "" : "(\(gate.name))") + ": " + gate.now
        } ?? "other requests start first"
    }

    /// Answers that a request cannot start at once, and logs why.
    func refuseNow(
        _ call: Call,
        _ executor: any RunExecutor,
        _ task: String,
        _ obstacle: String
    ) {
        let shown = PrintableText.escaped(String(task.prefix(200)))
        replies.refuse(
            call,
            executor,
            CallStatus.notNow,
            "`\(shown)` was to start at once or not at all, and cannot: \(obstacle)"
        )
    }
}
