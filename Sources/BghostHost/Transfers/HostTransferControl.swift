// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostTransfer
internal import Synchronization

/// The operator's commands for transfers.
extension Host {
    package func transfers() async -> [TransferView] {
        guard let table = transferTable else { return [] }
        let desk = table.desk
        return await table.engine.list().map { view in
            TransferView(
                view.record,
                bytes: view.bytes,
                waitingFor: waitingFor(
                    view,
                    isGoodMoment: desk.isGoodMoment.load(ordering: .relaxed)
                )
            )
        }
    }

    private func waitingFor(_ view: TransferEngine.View, isGoodMoment: Bool) -> String {
        let request = view.record.request
        switch view.record.status.state {
        case .waiting, .queued:
            if let date = request.notBefore, date > wall {
                return "its date, \(Timestamp.text(unixNanoseconds: date))"
            }
            guard request.isDiscretionary, !isGoodMoment else { return "a connection" }
            return dispatcher.scheduler.unmet(SessionDefinition.goodMoment).map(\.sentence)
                .joined(separator: "; ")
        case .retrying:
            let wait = view.retryIn.map { " in \(DurationText.of(nanoseconds: $0))" } ?? ""
            return "its next attempt\(wait)"
        case .paused: return "the plugin to resume it"
        case .done, .failed, .cancelled:
            let isKept = view.record.status.isKept
            return isKept ? "the plugin to make session \(request.session)" : ""
        case .active: return ""
        }
    }

    package func cancelTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView {
        try await change(prefix) { await $0.cancel($1) }
    }

    package func retryTransfer(_ prefix: String) async throws(OperatorRefusal) -> TransferView {
        try await change(prefix) { await $0.retry($1) }
    }

    private func change(
        _ prefix: String,
        _ body: (TransferEngine, RunID) async -> Void
    ) async throws(OperatorRefusal) -> TransferView {
        let views = await transfers()
        let view = try TransferView.named(prefix, in: views)
        guard let engine = transferTable?.engine, !view.isOver else {
            throw OperatorRefusal(
                .transferOver,
                "the transfer \(view.id) is over: it is \(view.stateName)"
            )
        }
        await body(engine, view.id)
        return await transfers().first { $0.id == view.id } ?? view
    }

    /// The numbers of running and ended transfers.
    func transferCounts() async -> TransferCounts {
        let views = await transferTable?.engine.list() ?? []
        let ended = views.count { $0.record.status.state.isTerminal }
        return TransferCounts(underWay: views.count - ended, ended: ended)
    }

    /// The gates of a request, with the reason if the wake limiter delays it.
    func gates(of request: Request, now: Moment, countsAhead: Bool = false) -> [Gate] {
        let gates = dispatcher.scheduler.gates(of: request, now: now, countsAhead: countsAhead)
        guard let table = transferTable, request.task.hasPrefix(SessionDefinition.taskPrefix),
            let session = table.sessions.values.first(where: { $0.taskIdentifier == request.task }),
            let limiter = table.limiters[
                SessionKey(plugin: session.plugin, session: session.name)
            ], request.counters.runs == 0
        else { return gates }
        return gates.map { gate in
            guard gate.kind == .notBefore, !gate.isOpen else { return gate }
            var gate = gate
            let delay = DurationText.of(nanoseconds: UInt64(max(0, limiter.delay)))
            gate.source =
                "its handler begins new transfers at every wake, so it is woken every \(delay)"
            return gate
        }
    }
}
