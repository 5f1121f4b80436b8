// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostPolicy

/// Looks at what is stored for what no single change shows: a due start of a schedule that is gone without a
/// word, and a request of a client that ends although the client did not withdraw it.
struct StartWatch {
    private var pending: [RunID: Request] = [:]
    private var seen = 0

    /// Looks at the transactions since the last call.
    ///
    /// - Parameters:
    ///   - isWithdrawal: whether an operator has withdrawn requests since then.
    ///   - isReload: whether the manifest has changed since then: a task that was gone had no schedule.
    /// - Returns: what was lost.
    mutating func look(
        at transactions: [(at: Int64, changes: [StoreChange])],
        isWithdrawal: Bool,
        isReload: Bool
    ) -> [String] {
        var lost: [String] = []
        for transaction in transactions[seen...] {
            var hasRow = false
            for case .startSkipped in transaction.changes { hasRow = true }
            for change in transaction.changes {
                switch change {
                case .accepted(let request, let replaced):
                    let old = replaced.flatMap { pending.removeValue(forKey: $0) }
                    pending[request.id] = request
                    guard let old, !isReload, !hasRow, request.missed == nil,
                        Self.isDueStart(old, at: transaction.at), request.submitter == .manifest
                    else { continue }
                    lost.append("the due start \(old) is replaced by \(request)")
                case .closed(let id, let end):
                    let old = pending.removeValue(forKey: id)
                    if end == .cancelled, !isWithdrawal, let old, old.submitter != .manifest {
                        lost.append("\(old) is withdrawn by no one")
                    }
                case .moved(let request), .redriven(let request), .runEnded(_, .again(let request)):
                    pending[request.id] = request
                case .runStarted(let record): pending[record.request] = nil
                default: break
                }
            }
        }
        seen = transactions.count
        return lost
    }

    /// How a single change loses one of these requests: the manifest takes that of a client, or gives a start
    /// another one; `nil` if it does not.
    static func loss(by change: StoreChange, of waiting: [RunID: Request]) -> String? {
        switch change {
        case .accepted(let request, replacing: let id?) where request.submitter == .manifest:
            guard let old = waiting[id] else { return nil }
            if old.submitter != .manifest { return "\(old) is replaced by \(request)" }
            return old.scheduledTime == request.scheduledTime ? "\(old) is made anew" : nil
        case .closed(let id, .paused):
            return waiting[id].flatMap {
                $0.submitter == .manifest ? nil : "\($0) is dropped in a pause"
            }
        default: return nil
        }
    }

    private static func isDueStart(_ request: Request, at now: Int64) -> Bool {
        request.scheduledTime != nil && request.submitter == .manifest
            && request.earliestBegin ?? .max <= now
    }
}
