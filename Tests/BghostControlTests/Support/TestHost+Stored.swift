// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy

extension TestHost {
    /// The record of a run that a daemon before it stored.
    static func endedRun(
        _ number: UInt64,
        _ outcome: Outcome = .succeeded,
        of task: String = "com.acme.storm"
    ) -> RunRecord {
        let begin = 1_700_000_000_000_000_000 + Int64(number) * 1_000_000_000
        return RunRecord(
            id: RunID(high: 1, low: number),
            request: RunID(high: 2, low: number),
            task: task,
            plugin: "storm",
            state: .ended,
            outcome: outcome,
            limits: RunLimits(kind: .refresh),
            submittedAt: begin,
            startedAt: begin + 1_000_000,
            endedAt: begin + 1_251_000_000,
            duration: .milliseconds(1250)
        )
    }
}

extension [StoreChange] {
    /// A run that has ended.
    static func ended(_ record: RunRecord, then next: AfterRun = .consumed) -> [StoreChange] {
        let request = Request(
            id: record.request,
            task: record.task,
            parameters: "{}",
            submittedAt: record.submittedAt,
            priority: 500
        )
        return [
            .accepted(request, replacing: nil), .runStarted(record), .runEnded(record, then: next),
        ]
    }

    /// A request that is dead, and its last run.
    static func dead(_ letter: DeadLetter) -> [StoreChange] {
        let record = RunRecord(
            id: letter.run,
            request: letter.request.id,
            task: letter.request.task,
            plugin: "storm",
            state: .ended,
            outcome: .failed,
            limits: RunLimits(kind: .refresh),
            submittedAt: letter.request.submittedAt,
            endedAt: letter.diedAt
        )
        return ended(record, then: .dead(letter.request, reason: letter.reason))
    }

    /// The checkpoint of a request that waits for the year 2100.
    static func saved(_ checkpoint: CheckpointSummary) -> [StoreChange] {
        let record = RunRecord(
            id: checkpoint.run,
            request: checkpoint.request,
            task: checkpoint.task,
            plugin: checkpoint.plugin,
            attempt: checkpoint.attempt,
            epoch: checkpoint.epoch,
            state: .ended,
            outcome: .failed,
            limits: RunLimits(kind: .refresh),
            submittedAt: 1,
            endedAt: checkpoint.savedAt
        )
        let request = Request(
            id: checkpoint.request,
            task: checkpoint.task,
            parameters: "{}",
            submittedAt: 1,
            earliestBegin: 4_102_444_800_000_000_000,
            priority: 500,
            // Another request of the task does not replace it.
            isAppended: true
        )
        let bytes = [UInt8](repeating: 7, count: checkpoint.length)
        return [
            .accepted(request, replacing: nil), .runStarted(record),
            .checkpointSaved(Checkpoint(checkpoint, bytes)),
            .runEnded(record, then: .again(request)),
        ]
    }
}
