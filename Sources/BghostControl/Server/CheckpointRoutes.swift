// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// The routes for checkpoints.
struct CheckpointRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.checkpoints) { request, _ in try await list(request) }
        endpoints.on(.deleteCheckpoint) { _, context in
            try await delete(context.parameters.require("id"))
        }
    }

    private func list(_ request: Request) async throws -> Response {
        let question = try Query(request).checkpointQuestion()
        let page: CheckpointPage
        do {
            page = try await host.checkpoints(question)
        } catch {
            throw ControlFault(error)
        }
        // A task that is no longer in the manifest may have checkpoints.
        if page.checkpoints.isEmpty, page.next == nil, question.cursor == nil,
            let task = question.tasks?.task
        {
            try await TaskLookup(host: host).check(task)
        }
        return Answer.json(Schema.checkpoints, API.Checkpoints(page))
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
