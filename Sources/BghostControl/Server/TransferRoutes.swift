// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// The routes for transfers.
struct TransferRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.transfers) { _, _ in
            let views = await host.transfers()
            return Answer.json(Schema.transfers, API.Transfers(transfers: views))
        }
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
