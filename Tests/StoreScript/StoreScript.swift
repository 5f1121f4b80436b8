// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel
package import BghostPolicy
internal import BghostStore

/// A sequence of transactions that never ends, of which every prefix is known.
///
/// Each three of them: three requests are accepted, one of them runs and ends, one is cancelled.
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

    package static func list(_ number: Int) -> [StoreChange] {
        let first = number - number % 3
        switch number % 3 {
        case 0: return (first..<first + 3).map { .accepted(request($0), replacing: nil) }
        case 1: return [.runStarted(run(first)), .runEnded(run(first), then: .consumed)]
        default: return [.closed(request(first + 1).id, .cancelled)]
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
        switch changes % 6 {
        case 0: changes / 6 * 3
        case 3: changes / 6 * 3 + 1
        case 5: changes / 6 * 3 + 2
        default: nil
        }
    }
}
