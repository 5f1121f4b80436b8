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
