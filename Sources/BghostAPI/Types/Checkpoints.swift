// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// What a run has saved for the next attempt of its request.
    package struct Checkpoint: Codable, Equatable, Sendable {
        /// The number of its bytes.
        package var bytes: Int
        /// When it was saved.
        @Formatted<RFC3339> package var savedAt: Int64
        /// The id of the run that saved it.
        @Formatted<ULID> package var run: RunID
        /// The number of that run among those of its request, from 1.
        @OrDefault package var attempt: Int
        /// The fencing token of that run.
        @OrDefault package var epoch: UInt64

        package init(_ checkpoint: CheckpointSummary) {
            bytes = checkpoint.length
            savedAt = checkpoint.savedAt
            run = checkpoint.run
            attempt = checkpoint.attempt
            epoch = checkpoint.epoch
        }

        /// The checkpoint of a run's request.
        package func summary(request: RunID, task: String, plugin: String) -> CheckpointSummary {
            CheckpointSummary(
                request: request,
                task: task,
                plugin: plugin,
                run: run,
                epoch: epoch,
                attempt: attempt,
                savedAt: savedAt,
                length: bytes
            )
        }
    }

    /// The checkpoint of a request, in a list.
    package struct RequestCheckpoint: Codable, Equatable, Sendable {
        /// The id of the request, which has it.
        @Formatted<ULID> package var request: RunID
        /// The identifier of its task.
        package var task: String
        /// The plugin whose handler saved it; only this one gets it.
        package var plugin: String
        /// What was saved.
        package var checkpoint: Checkpoint

        package init(_ checkpoint: CheckpointSummary) {
            request = checkpoint.request
            task = checkpoint.task
            plugin = checkpoint.plugin
            self.checkpoint = Checkpoint(checkpoint)
        }

        package var summary: CheckpointSummary {
            checkpoint.summary(request: request, task: task, plugin: plugin)
        }
    }

    /// Checkpoints, those of the newest requests first.
    package struct Checkpoints: Codable, Equatable, Sendable {
        /// The checkpoints, without their bytes.
        @Elements package var checkpoints: [RequestCheckpoint]
        /// `cursor` for the next page, also if this page is shorter than its limit or empty, since it ends after
        /// 20,000 rows; null if there is none.
        @OrNull package var next: String?

        package init(_ page: CheckpointPage) {
            checkpoints = page.checkpoints.map(RequestCheckpoint.init)
            next = page.next.map { PageCursor.checkpoints(request: $0).text }
        }
    }

    /// A checkpoint that was deleted.
    package struct DeletedCheckpoint: Codable, Equatable, Sendable {
        /// The id of the request, which had it.
        @Formatted<ULID> package var request: RunID
        /// The identifier of its task.
        package var task: String
        /// What was deleted.
        package var checkpoint: Checkpoint

        package init(request: RunID, task: String, checkpoint: Checkpoint) {
            self.request = request
            self.task = task
            self.checkpoint = checkpoint
        }
    }
}
