// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostModel
internal import BghostPolicy
internal import BghostStore

/// The list of the checkpoints that requests have.
///
/// The host owns it. Use it on the reactor's thread only; another thread reads the store.
package final class CheckpointList {
    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let history: HistoryReader

    package init(_ dispatcher: Dispatcher, _ commits: CommitQueue, _ history: HistoryReader) {
        self.dispatcher = dispatcher
        self.commits = commits
        self.history = history
    }

    /// A page of the checkpoints, those of the newest requests first.
    package nonisolated(nonsending) func page(
        _ question: CheckpointQuestion
    ) async throws(OperatorRefusal) -> CheckpointPage {
        var query = CheckpointQuery(
            tasks: question.tasks,
            plugin: question.plugin,
            limit: question.limit
        )
        if let cursor = question.cursor {
            guard case .checkpoints(let request) = cursor else { throw .badCursor }
            query.after = request
        }
        let wanted = query
        var page = await history.ask { $0.checkpoints(wanted) }
        // The rows of requests that have ended are on the disk until their transactions are.
        page.checkpoints.removeAll { !commits.checkpoints.has($0.request) }
        // A plugin that left the manifest may have saved some.
        if let plugin = question.plugin, page.checkpoints.isEmpty, page.next == nil,
            question.cursor == nil, !dispatcher.scheduler.catalog.hasPlugin(plugin)
        {
            throw dispatcher.noSuchPlugin(plugin)
        }
        return page
    }
}
