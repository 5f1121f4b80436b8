// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostTransferRules

/// Changes of transfers that have happened and could not be written yet.
///
/// Only the last state of each transfer is kept, so the backlog uses no more memory than the
/// transfers.
struct TransferBacklog {
    private enum State {
        case changed(TransferPoint?, TransferStatus?)
        case removed
    }

    private var states: [RunID: State] = [:]

    var isEmpty: Bool { states.isEmpty }
    var count: Int { states.count }

    /// Adds changes after the existing ones.
    mutating func add(_ changes: [TransferChange]) {
        for change in changes {
            switch change {
            // A creation is never in the backlog: it takes effect only once it is written.
            case .created: break
            case .moved(let id, let point):
                if case .changed(_, let status) = states[id] ?? .changed(nil, nil) {
                    states[id] = .changed(point, status)
                }
            case .changed(let id, let status):
                if case .changed(let point, _) = states[id] ?? .changed(nil, nil) {
                    states[id] = .changed(point, status)
                }
            case .removed(let id): states[id] = .removed
            }
        }
    }

    /// All changes, one state per transfer; the order does not matter.
    var changes: [TransferChange] {
        states.sorted { $0.key < $1.key }.flatMap { id, state -> [TransferChange] in
            switch state {
            case .removed: [.removed(id)]
            case .changed(let point, let status):
                [point.map { .moved(id, $0) }, status.map { .changed(id, $0) }].compactMap(\.self)
            }
        }
    }
}
