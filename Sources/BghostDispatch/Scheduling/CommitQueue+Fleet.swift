// SPDX-License-Identifier: Apache-2.0

package import BghostPolicy
package import BghostStore

extension CommitQueue {
    /// Commits changes that have already taken effect; the store retries until they are stored.
    ///
    /// - Parameters:
    ///   - isAwaited: whether a caller waits for the result; by default, if `then` is given. Only then, and
    ///     only while nothing runs, this thread may wait for the disk.
    ///   - onFailure: what the store does if it cannot store the changes now. Changes that may be
    ///     refused must not have taken effect yet; use ``commitOrRefuse(_:then:)``.
    ///   - then: called when the transaction is as durable as the store makes it, or has failed
    ///     permanently. If the store answers at once, it is called before this returns.
    package func commit(
        _ changes: [StoreChange],
        isAwaited: Bool? = nil,
        onFailure: CommitFailurePolicy = .retry,
        then: Completion? = nil
    ) {
        guard let fleet else {
            return commitLocally(changes, isAwaited: isAwaited, onFailure: onFailure, then: then)
        }
        if onFailure == .refuse {
            let (local, shared) = fleet.split(changes)
            if !local.isEmpty, !shared.isEmpty {
                return commitOrRefuse(local, isAwaited: isAwaited, shared: shared, then: then)
            }
        }
        let (local, transaction) = fleet.take(changes)
        guard let transaction else {
            return commitLocally(local, isAwaited: isAwaited, onFailure: onFailure, then: then)
        }
        let parts = then.map { CommitParts(local.isEmpty ? 1 : 2, $0) }
        if !local.isEmpty {
            commitLocally(local, isAwaited: isAwaited, onFailure: onFailure, then: parts?.finish)
        }
        if let parts { fleet.whenKept(transaction, parts.finish) }
    }

    /// Commits changes of which a part is the fleet's and none may be refused alone.
    ///
    /// The fleet's part cannot be taken back, so it follows only when this host's own store has the other one.
    private func commitOrRefuse(
        _ local: [StoreChange],
        isAwaited: Bool?,
        shared: [StoreChange],
        then: Completion?
    ) {
        let isAwaited = isAwaited ?? (then != nil)
        commitLocally(local, isAwaited: isAwaited, onFailure: .refuse) { [unowned self] result in
            if case .failure = result {
                then?(result)
            } else {
                commitShared(shared, then: then)
            }
        }
    }

    private func commitShared(_ changes: [StoreChange], then: Completion?) {
        guard let fleet, fleet.split(changes).local.isEmpty,
            let transaction = fleet.take(changes).transaction
        else {
            let reason = "this host does not own the requests in the fleet any more"
            then?(.failure(StoreError(reason)))
            return
        }
        if let then { fleet.whenKept(transaction, then) }
    }
}

/// The parts of a transaction that is in several stores, and the caller that waits for all of them.
final class CommitParts {
    private var left: Int
    private var failure: StoreError?
    private let completion: CommitQueue.Completion

    init(_ count: Int, _ completion: @escaping CommitQueue.Completion) {
        left = count
        self.completion = completion
    }

    /// Records the result of a part; the last one calls the completion, with a failure if there was one.
    func finish(_ result: Result<Void, StoreError>) {
        if case .failure(let error) = result { failure = failure ?? error }
        left -= 1
        guard left == 0 else { return }
        completion(failure.map { .failure($0) } ?? .success(()))
    }
}
