// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// An event of the partitions of a fleet, for the requests that one of its hosts owns: `"runs": "inFleet"`.
package enum PartitionEvent: Codable, Sendable {
    /// The lease of this host is valid: its requests may start until then, in time since boot.
    case leased(until: MonotonicInstant)
    /// The lease of this host is not valid, for this reason.
    ///
    /// Runs go on. Before the first such event a scheduler treats the tasks as those of one host, as in
    /// simulations.
    case unleased(String)
    /// The fleet has given a partition to this host; its requests follow.
    case granted(PartitionGrant, [TaskMemory])
    /// Pending requests of a partition that this host owns, in any number of parts.
    case adopted([Request])
    /// A run that was in progress when the last owner of its partition was lost, with its request.
    case interrupted(RunRecord, of: Request)
    /// A submission of any host that the fleet's store has.
    case delivered(Request, ConflictPolicy)
    /// This host gives partitions back, in which nothing runs.
    case released([PartitionID])
    /// The fleet's store has refused this host, which owns nothing any more.
    case fenced(String)
}
