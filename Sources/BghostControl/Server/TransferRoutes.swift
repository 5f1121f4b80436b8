// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import Hummingbird

/// The routes for transfers.
struct TransferRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.transfers) { request, _ in try await list(request) }
        endpoints.on(.cancelTransfer) { _, context in
            let id = try context.parameters.require("id")
            return try await change { () throws(OperatorRefusal) in
                try await host.cancelTransfer(id)
            }
        }
        endpoints.on(.retryTransfer) { _, context in
            let id = try context.parameters.require("id")
            return try await change { () throws(OperatorRefusal) in
                try await host.retryTransfer(id)
            }
        }
    }

    /// The order of the ids stays the same while transfers come and go, so no page repeats one of another.
    private func list(_ request: Request) async throws(ControlFault) -> Response {
        let (after, limit) = try Query(request).transferQuestion()
        let all = await host.transfers().sorted { $0.id < $1.id }
        let rest = all.drop { view in after.map { view.id <= $0 } ?? false }
        let page = Array(rest.prefix(limit))
        let last = rest.count > page.count ? page.last : nil
        let answer = API.Transfers(
            transfers: page,
            total: all.count,
            next: last.map { PageCursor.transfers(id: $0.id).text }
        )
        return Answer.json(Schema.transfers, answer)
    }

    private func change(
        _ body: () async throws(OperatorRefusal) -> TransferView
    ) async throws(ControlFault) -> Response {
        let view: TransferView
        do {
            view = try await body()
        } catch {
            throw ControlFault(error)
        }
        return Answer.json(Schema.transfer, API.TransferAnswer(transfer: view))
    }
}
