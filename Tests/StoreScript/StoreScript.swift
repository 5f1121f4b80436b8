// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel
package import BghostPolicy
internal import BghostStore

/// A sequence of transactions that never ends, of which every prefix is known.
///
/// Each three of them: three requests are accepted; one of them runs, saves a checkpoint and ends; one is
/// cancelled, and the last runs, saves a checkpoint, fails and waits for its next attempt.
package enum StoreScript {
    package static func request(_ number: Int) -> Request {
        Request(
            id: RunID(high: 1, low: UInt64(number)),
            task: "task\(number % 5)",
            parameters: #"{"number":\#(number)}"#,
            submittedAt: Int64(number),
            priority: 500
        )
    }

    package static func run(_ number: Int) -> RunRecord {
        RunRecord(
            id: RunID(high: 2, low: UInt64(number)),
            request: request(number).id,
            task: "task\(number % 5)",
            plugin: "plugin",
            epoch: UInt64(number),
            state: .ended,
            outcome: .succeeded,
            message: "run \(number)",
            limits: RunLimits(kind: .refresh),
            submittedAt: Int64(number)
        )
    }

    /// The first attempt of the last request of three, which fails.
    package static func failedRun(_ number: Int) -> RunRecord {
        var record = run(number)
        record.id = RunID(high: 3, low: UInt64(number))
        record.outcome = .failed
        return record
    }

    /// Made once: models of the store have thousands of checkpoints.
    private static let pattern = (0..<256 + 40 * 150).map { UInt8(truncatingIfNeeded: $0) }

    /// What a run saves: of different lengths, so that some are in pages of their own.
    package static func checkpoint(of run: RunRecord) -> Checkpoint {
        let number = Int(run.epoch)
        let start = number % 256
        let bytes = Array(pattern[start...start + number % 40 * 150])
        return Checkpoint(
            CheckpointSummary(of: run, length: bytes.count, now: Int64(number)),
            bytes
        )
    }

    package static func list(_ number: Int) -> [StoreChange] {
        let first = number - number % 3
        switch number % 3 {
        case 0: return (first..<first + 3).map { .accepted(request($0), replacing: nil) }
        case 1:
            let run = run(first)
            return [
                .runStarted(run), .checkpointSaved(checkpoint(of: run)),
                .runEnded(run, then: .consumed),
            ]
        default:
            let failed = failedRun(number)
            return [
                .closed(request(first + 1).id, .cancelled), .runStarted(failed),
                .checkpointSaved(checkpoint(of: failed)),
                .runEnded(failed, then: .again(request(number))),
            ]
        }
    }

    /// A list with its row of the audit, as the verb of an operator has.
    package static func audited(_ number: Int) -> [StoreChange] {
        let entry = AuditEntry(
            // Of a time to come, so that its age deletes none.
            at: 4_000_000_000_000_000_000 + Int64(number),
            AuditActor(.socket, uid: 0, pid: 1, user: "root"),
            verb: "trigger",
            target: "task\(number % 5)",
            status: .stored,
            refs: "\(number)"
        )
        return list(number) + [.audited(entry)]
    }

    /// How many lists make so many changes; `nil` if the last of them is not whole.
    package static func lists(_ changes: Int) -> Int? {
        switch changes % 10 {
        case 0: changes / 10 * 3
        case 3: changes / 10 * 3 + 1
        case 6: changes / 10 * 3 + 2
        default: nil
        }
    }
}
