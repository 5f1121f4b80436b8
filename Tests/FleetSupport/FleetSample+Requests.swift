// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFleetRules
package import BghostModel
internal import BghostPolicy
internal import Testing

/// Requests and runs whose ids are small numbers.
extension FleetSample {
    package static func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    package static func request(_ number: Int, task: String = "a", failures: Int = 0) -> Request {
        Request(
            id: id(number),
            task: task,
            parameters: "{}",
            submittedAt: Int64(number),
            priority: 500,
            counters: AttemptCounters(failures: failures)
        )
    }

    package static func run(_ number: Int, of request: Request, epoch: UInt64) -> RunRecord {
        RunRecord(
            id: id(number),
            request: request.id,
            task: request.task,
            plugin: "p",
            attempt: request.attempt,
            epoch: epoch,
            limits: RunLimits(kind: .refresh),
            submittedAt: request.submittedAt
        )
    }

    package static func ended(_ run: RunRecord, _ outcome: Outcome = .succeeded) -> RunRecord {
        var run = run
        run.state = .ended
        run.outcome = outcome
        run.endedAt = Int64(run.epoch)
        return run
    }
}

extension BatchQueue {
    package struct NothingToSend: Error {}

    /// The next batch, which there must be.
    package mutating func send() throws -> Numbered {
        guard let batch = next() else { throw NothingToSend() }
        return batch
    }
}
