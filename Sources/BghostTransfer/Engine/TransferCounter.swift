// SPDX-License-Identifier: Apache-2.0

package import BghostMetrics
internal import BghostTransferRules
internal import Synchronization

/// Counts what becomes of transfers, for the metrics.
///
/// The engine counts on its own executor; the value may be read on any thread.
package final class TransferCounter: Sendable {
    private let statistics = Mutex(TransferStatistics())

    package var value: TransferStatistics { statistics.withLock { $0 } }

    func began() { statistics.withLock { $0.began() } }

    /// Takes back what ``began()`` counted: the journal refused the transfer.
    func refused() { statistics.withLock { $0.refused() } }

    func ended(_ record: TransferRecord) {
        guard let end = TransferStatistics.End(record.status.state) else { return }
        statistics.withLock { $0.ended(end) }
    }

    /// Counts the bytes of an attempt that has ended.
    func moved(_ request: TransferRequest, _ bytes: UInt64) {
        let direction: TransferStatistics.Direction =
            if case .download = request.kind { .received } else { .sent }
        statistics.withLock { $0.moved(direction, bytes) }
    }
}

extension TransferStatistics.End {
    /// - Returns: `nil` if the state is not final.
    fileprivate init?(_ state: TransferState) {
        switch state {
        case .done: self = .done
        case .failed: self = .failed
        case .cancelled: self = .cancelled
        case .queued, .waiting, .active, .paused, .retrying: return nil
        }
    }
}
