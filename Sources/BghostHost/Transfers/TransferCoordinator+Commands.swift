// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import BghostTransferRules
internal import BghostTransfer
internal import BghostTransferBridge
internal import Synchronization

/// The operator's commands for transfers.
extension TransferCoordinator {
    nonisolated(nonsending) func transfers() async -> [TransferView] {
        guard let table else { return [] }
        let bridge = table.bridge
        await table.lastDelivery?.value
        return await table.engine.list().map { view in
            TransferView(
                view.record,
                bytes: view.bytes,
                waitingFor: waitingFor(
                    view,
                    isGoodMoment: bridge.isGoodMoment.load(ordering: .relaxed)
                )
            )
        }
    }

    private func waitingFor(_ view: TransferEngine.View, isGoodMoment: Bool) -> String {
        let request = view.record.request
        switch view.record.status.state {
        case .waiting, .queued:
            if let date = request.notBefore, date > clock.wall {
                return "its date, \(Timestamp.text(unixNanoseconds: date))"
            }
            guard request.isDiscretionary, !isGoodMoment else { return "a connection" }
            return dispatcher.scheduler.unmet(SessionDefinition.discretionary).map(\.sentence)
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

    nonisolated(nonsending) func cancelTransfer(_ prefix: String) async throws(OperatorRefusal)
        -> TransferView
    {
        try await change(prefix) { await $0.cancel($1) }
    }

    nonisolated(nonsending) func retryTransfer(_ prefix: String) async throws(OperatorRefusal)
        -> TransferView
    {
        try await change(prefix) { await $0.retry($1) }
    }

    private nonisolated(nonsending) func change(
        _ prefix: String,
        _ body: (TransferEngine, RunID) async -> Void
    ) async throws(OperatorRefusal) -> TransferView {
        let views = await transfers()
        let view = try TransferView.named(prefix, in: views)
        guard let engine = table?.engine, !view.isOver else {
            throw OperatorRefusal(
                .transferOver,
                "the transfer \(view.id) is over: it is \(view.stateName)"
            )
        }
        await body(engine, view.id)
        return await transfers().first { $0.id == view.id } ?? view
    }

    /// The numbers of running and ended transfers.
    nonisolated(nonsending) func counts() async -> TransferCounts {
        let views = await table?.engine.list() ?? []
        let ended = views.count { $0.record.status.state.isTerminal }
        return TransferCounts(underWay: views.count - ended, ended: ended)
    }

    /// By how much the limiter of a session's wakes delays a request, nanoseconds; `nil` if it does not.
    func wakeDelay(of request: Request) -> Int64? {
        guard let table, request.task.hasPrefix(SessionDefinition.taskPrefix),
            let session = table.sessions.values.first(where: { $0.taskIdentifier == request.task })
        else { return nil }
        return table.limiters[SessionKey(plugin: session.plugin, session: session.name)]?.delay
    }
}
