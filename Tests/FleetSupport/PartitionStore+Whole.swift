// SPDX-License-Identifier: Apache-2.0

package import BghostFleetRules
package import BghostModel

/// Calls for all that waits, without a place after which it begins.
extension PartitionStore {
    package mutating func letters(
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> [FleetLetter] {
        try letters(after: -1, limit: limit, session).letters.map(\.letter)
    }

    /// All contents of a partition.
    package mutating func contents(
        of partition: PartitionID
    ) throws(FleetRefusal) -> PartitionContents {
        var whole = PartitionContents()
        var place: ContentsPlace?
        repeat {
            let page = try contents(of: partition, after: place)
            whole.append(page.contents)
            place = page.next
        } while place != nil
        return whole
    }

    package mutating func cancels(
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> [FleetCancel] {
        try cancels(after: nil, limit: limit, session).cancels
    }
}
