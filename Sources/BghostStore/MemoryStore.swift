// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import Synchronization

/// A store that lasts as long as its process: for tests, and for a daemon that is told to keep
/// nothing.
///
/// It keeps the last `historyMax` runs.
package final class MemoryStore: Store {
    private struct State {
        var pending: [RunID: Request] = [:]
        /// A ring: the oldest is overwritten once it is full.
        var history: [RunRecord] = []
        var head = 0
        var last: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let historyMax: Int

    package init(historyMax: Int = 1000) {
        self.historyMax = max(1, historyMax)
    }

    package func commit(
        _ changes: [StoreChange],
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        state.withLock { state in
            for change in changes {
                switch change {
                case .accepted(let request, let replaced):
                    if let replaced { state.pending[replaced] = nil }
                    state.pending[request.id] = request
                case .withdrawn(let id, _): state.pending[id] = nil
                case .began(let record): state.pending[record.request] = nil
                case .ended(let record): append(record, to: &state)
                }
            }
        }
        completion(.success(()))
    }

    private func append(_ record: RunRecord, to state: inout State) {
        let index: Int
        if state.history.count < historyMax {
            index = state.history.count
            state.history.append(record)
        } else {
            index = state.head
            let forgotten = state.history[index].task
            if state.last[forgotten] == index { state.last[forgotten] = nil }
            state.history[index] = record
            state.head = (index + 1) % historyMax
        }
        state.last[record.task] = index
    }

    package func recover() throws(StoreError) -> (pending: [Request], interrupted: [RunRecord]) {
        state.withLock { ($0.pending.values.sorted { $0.id < $1.id }, []) }
    }

    package func runs(task: String?, limit: Int) -> [RunRecord] {
        newest(limit) { task == nil || $0.task == task }
    }

    package func runs(idPrefix: String, limit: Int) -> [RunRecord] {
        let prefix = idPrefix.uppercased()
        return newest(limit) { $0.id.description.hasPrefix(prefix) }
    }

    package func run(ofRequest id: RunID) -> RunRecord? {
        newest(1) { $0.request == id }.first
    }

    package func lastRun(task: String) -> RunRecord? {
        state.withLock { state in
            state.last[task].map { state.history[$0] }
        }
    }

    private func newest(_ limit: Int, _ isWanted: (RunRecord) -> Bool) -> [RunRecord] {
        state.withLock { state in
            var found: [RunRecord] = []
            let count = state.history.count
            var offset = 1
            while offset <= count, found.count < limit {
                let record = state.history[(state.head + count - offset) % count]
                if isWanted(record) { found.append(record) }
                offset += 1
            }
            return found
        }
    }
}
