// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The rows of a host's partitions that a newer bghost has written, and that this one cannot read.
///
/// They stay in the store for a host that can. ``sentence`` is O(partitions with such rows), the others are
/// O(what they get).
package struct UnreadableRows {
    private struct Partition {
        var count: Int
        /// The tasks of those that are requests.
        var tasks: Set<String> = []
    }

    private var partitions: [PartitionID: Partition] = [:]
    /// Submissions: in the looks since they last began anew, and in those before.
    private var letters = (seen: 0, known: 0)

    package init() {}

    package var isEmpty: Bool { partitions.isEmpty && letters.known == 0 }

    /// Notes the rows of a partition.
    ///
    /// - Returns: a line for the log; `nil` if there are none.
    package mutating func note(_ rows: [UnreadableRow], in partition: PartitionID) -> String? {
        guard !rows.isEmpty else { return nil }
        var noted = Partition(count: rows.count)
        for case .request(_, let task) in rows { noted.tasks.insert(task) }
        partitions[partition] = noted
        let place = " of the fleet in partition \(partition.number) "
        return CountText.of(rows.count, "row") + place + Self.wait(rows.count)
    }

    /// Notes how many of the submissions that a look has found cannot be read.
    ///
    /// - Parameter isLast: whether the looks begin anew after it.
    /// - Returns: a line for the log; `nil` if there are no more than before.
    package mutating func note(letters count: Int, isLast: Bool) -> String? {
        letters.seen += count
        guard isLast else { return nil }
        let (seen, known) = letters
        letters = (0, seen)
        guard seen > known else { return nil }
        return CountText.of(seen, "submission") + " of the fleet " + Self.wait(seen)
    }

    /// Whether a partition has such a request of a task; another one of the task could collide with it.
    package func has(_ task: String, in partition: PartitionID) -> Bool {
        partitions[partition]?.tasks.contains(task) ?? false
    }

    package mutating func remove(_ partition: PartitionID) { partitions[partition] = nil }

    /// What an operator should know, a sentence without a full stop; `nil` if there are none.
    package var sentence: String? {
        let count = partitions.values.reduce(0) { $0 + $1.count } + letters.known
        guard count > 0 else { return nil }
        let (were, them) = count == 1 ? ("was", "it") : ("were", "them")
        return CountText.of(count, "row")
            + " of the fleet \(were) written by a newer bghost, and this one"
            + " cannot read \(them): update bghost on this host"
    }

    private static func wait(_ count: Int) -> String {
        let (wait, them) = count == 1 ? ("waits", "it") : ("wait", "them")
        return
            "\(wait) for a host that can read \(them): a newer bghost has written \(them), so update bghost"
            + " on this host"
    }
}
