// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// The route for checkpoints.
struct CheckpointRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.deleteCheckpoint) { _, context in
            try await delete(context.parameters.require("id"))
        }
    }

    private func delete(_ prefix: String) async throws(ControlFault) -> Response {
        let deleted: CheckpointSummary
        do {
            deleted = try await host.deleteCheckpoint(ofRequest: prefix)
        } catch {
            throw ControlFault(error)
        }
        return Answer.json(
            Schema.checkpointDelete,
            API.DeletedCheckpoint(
                request: deleted.request,
                task: deleted.task,
                checkpoint: API.Checkpoint(deleted)
            )
        )
    }
}
