// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
package import BghostPolicy

/// The batches of a host in their order: one is under way, and all later changes wait in the next one.
///
/// After a broken connection the number of the last kept batch says whether the one under way was kept, so
/// none is lost and none takes effect twice.
///
/// A change costs O(1), `next` O(requests with a change in the batch); the others are O(1).
package struct BatchQueue: Sendable {
    /// A batch with its number, from 1 since the registration of the host.
    package struct Numbered: Equatable, Sendable {
        package let number: Int64
        package let batch: FleetBatch
        /// The last transaction that it includes.
        fileprivate let position: UInt64
        fileprivate let counts: PartitionCounts
    }

    /// What the number of the last kept batch says about the one under way.
    package enum Resumption: Equatable, Sendable {
        /// There was none.
        case idle
        /// It was kept.
        case kept
        /// It was not kept: send the same one again.
        case again(Numbered)
        /// The store went back to an earlier state: the host gives up its partitions and reads them again.
        case wentBack
    }

    private var fold = BatchFold()
    /// The number of the last batch that was sent.
    private var number: Int64 = 0
    /// The last transaction that was added.
    private var added: UInt64 = 0
    private(set) var underWay: Numbered?
    /// The last transaction that the store has kept, by the number that `add` returned.
    package private(set) var kept: UInt64 = 0

    package init() {}

    /// Adds a transaction to the next batch.
    ///
    /// - Returns: the changes for the host's own store, and the number of the transaction: it is kept once
    ///   `kept` is not below it.
    package mutating func add(
        _ changes: [StoreChange],
        in partition: PartitionID
    ) throws(BatchFold.Contradiction) -> (local: [StoreChange], transaction: UInt64) {
        let local = try fold.add(changes, in: partition)
        added += 1
        return (local, added)
    }

    /// Adds that the owner has accepted or dropped a submission.
    ///
    /// No batch may be sent between this and the changes of the submission.
    package mutating func take(letter id: RunID, in partition: PartitionID) {
        fold.take(letter: id, in: partition)
        added += 1
    }

    /// Whether a change of a partition is not kept yet.
    package func concerns(_ partition: PartitionID) -> Bool {
        var work = 0
        return concerns(partition, work: &work)
    }

    /// - Parameter work: increases by the number of entries that were looked at, which tests count.
    func concerns(_ partition: PartitionID, work: inout Int) -> Bool {
        fold.concerns(partition, work: &work)
            || underWay?.counts.contains(partition, work: &work) ?? false
    }

    /// Whether `next` has something to send.
    package var isReady: Bool { underWay == nil && added > kept }

    /// The next batch to send; `nil` while one is under way.
    ///
    /// It may be empty: it then only renews the lease.
    package mutating func next() -> Numbered? {
        guard underWay == nil else { return nil }
        number += 1
        let (batch, counts) = fold.takeCounted()
        underWay = Numbered(number: number, batch: batch, position: added, counts: counts)
        return underWay
    }

    /// Records that the batch under way was kept.
    package mutating func answered() {
        guard let sent = underWay else { return }
        kept = sent.position
        underWay = nil
    }

    /// Decides about the batch under way after a broken connection.
    ///
    /// - Parameter last: the number of the last batch that the store has kept.
    package mutating func resumed(last: Int64) -> Resumption {
        guard let sent = underWay else { return last == number ? .idle : .wentBack }
        switch last {
        case sent.number:
            answered()
            return .kept
        case sent.number - 1: return .again(sent)
        default: return .wentBack
        }
    }
}
