// SPDX-License-Identifier: Apache-2.0

package import BghostFleetRules

/// Calls for all that waits, without a place after which it begins.
extension PartitionStore {
    package mutating func letters(
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> [FleetLetter] {
        try letters(after: -1, limit: limit, session).map(\.letter)
    }

    package mutating func cancels(
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> [FleetCancel] {
        try cancels(after: nil, limit: limit, session).cancels
    }
}
