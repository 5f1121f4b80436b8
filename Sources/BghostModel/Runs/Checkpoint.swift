// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// What a run has saved for the next attempt of its request.
///
/// A request has at most one; it ends with the request.
package struct Checkpoint: Equatable, Sendable {
    /// The most bytes that a run may save, `BG_CHECKPOINT_MAX` of the ABI.
    package static let bytesMax = 64 << 10
    /// What a checkpoint costs besides its bytes: its row in the store, and the index in memory.
    package static let overheadBytes = 512

    package var about: CheckpointSummary
    /// What the handler passed; not empty.
    package var bytes: [UInt8]

    package init(_ about: CheckpointSummary, _ bytes: [UInt8]) {
        self.about = about
        self.bytes = bytes
    }
}

/// A checkpoint without its bytes.
package struct CheckpointSummary: Equatable, Sendable {
    package var request: RunID
    package var task: String
    /// The plugin whose handler saved it; only this one gets it.
    package var plugin: String
    /// The run that saved it.
    package var run: RunID
    /// The fencing token of that run.
    package var epoch: UInt64
    /// The number of that attempt, from 1.
    package var attempt: Int
    /// Unix nanoseconds.
    package var savedAt: Int64
    /// The number of its bytes.
    package var length: Int

    package init(
        request: RunID,
        task: String,
        plugin: String,
        run: RunID,
        epoch: UInt64,
        attempt: Int,
        savedAt: Int64,
        length: Int
    ) {
        self.request = request
        self.task = task
        self.plugin = plugin
        self.run = run
        self.epoch = epoch
        self.attempt = attempt
        self.savedAt = savedAt
        self.length = length
    }

    /// The checkpoint of the run's request, as the run saves it now.
    ///
    /// - Parameter now: Unix nanoseconds.
    package init(of run: RunRecord, length: Int, now: Int64) {
        self.init(
            request: run.request,
            task: run.task,
            plugin: run.plugin,
            run: run.id,
            epoch: run.epoch,
            attempt: run.attempt,
            savedAt: now,
            length: length
        )
    }
}
