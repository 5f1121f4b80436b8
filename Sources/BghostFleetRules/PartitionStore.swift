// SPDX-License-Identifier: Apache-2.0

package import BghostModel
package import BghostPolicy

/// The fleet's store of partitions, as one host calls it.
///
/// Each call is one transaction. All calls of a host carry its registration and its connection, and the store
/// refuses those of an earlier one: a message that was delayed in the network for however long changes
/// nothing. `FleetConformance` in the tests says what each implementation must do.
///
/// The daemon does not use it yet.
package protocol PartitionStore {
    /// The number of the last registration under a name; 0 if there is none.
    mutating func incarnation(of name: String) throws(FleetRefusal) -> Int

    /// Registers a host under its name; the former registration then owns nothing.
    ///
    /// - Parameter last: the last registration that the host knows of. Another one in the store is refused:
    ///   without that, a delayed message of a dead process would end the registration of its successor, whose
    ///   runs go on until it learns of that.
    mutating func register(
        _ terms: HostTerms,
        after last: Int
    ) throws(FleetRefusal) -> HostSession

    /// Begins another connection of a registration; calls of the ones before are refused from then on.
    ///
    /// It renews the lease.
    mutating func resume(_ session: HostSession) throws(FleetRefusal) -> ResumedSession

    /// Keeps a batch as a whole or not at all, and renews the lease.
    ///
    /// - Parameter number: that of the last kept batch plus 1; others are refused.
    /// - Returns: the clock of the store, Unix nanoseconds.
    mutating func commit(
        _ batch: FleetBatch,
        number: Int64,
        _ session: HostSession
    ) throws(FleetRefusal) -> Int64

    /// Claims free partitions up to the share of the host.
    ///
    /// - Parameters:
    ///   - held: the partitions that the host has. Others that it owns in the store are granted anew, since the
    ///     answer that granted them, or the one that took them back, was lost.
    ///   - mayReap: whether hosts whose leases have ended are declared dead first (`ReapRule`).
    mutating func claim(
        holding held: [PartitionID],
        mayReap: Bool,
        _ session: HostSession
    ) throws(FleetRefusal) -> ClaimAnswer

    /// Gives partitions back; those that the host does not own are left alone.
    mutating func release(
        _ partitions: [PartitionID],
        _ session: HostSession
    ) throws(FleetRefusal)

    /// Ends the registration and gives all partitions back.
    mutating func leave(_ session: HostSession) throws(FleetRefusal)

    /// The contents of a partition that the host was granted.
    mutating func contents(of partition: PartitionID) throws(FleetRefusal) -> PartitionContents
}

/// Why the fleet's store refuses a call.
package enum FleetRefusal: Error, Equatable, Sendable {
    /// The registration or the connection is no longer the current one, or the host was declared dead.
    case fenced
    /// The store is not what the batch expects: the owner has to read its partitions again.
    case drift
    /// A later registration has the name of this host.
    case registeredMeanwhile
    /// There is no such partition.
    case unknownPartition
}

/// What a host registers with.
package struct HostTerms: Equatable, Sendable {
    package var name: String
    /// The length of its lease, nanoseconds.
    package var lease: UInt64
    /// How many runs it may have at once; its share of the partitions depends on it.
    package var slots: Int
    /// The pools whose partitions it may own.
    package var pools: Set<UInt8>

    package init(name: String, lease: UInt64, slots: Int, pools: Set<UInt8> = [0]) {
        self.name = name
        self.lease = lease
        self.slots = slots
        self.pools = pools
    }
}

/// A connection of a registration of a host.
package struct HostSession: Equatable, Sendable {
    package let host: Int
    /// Increases with each registration under this name.
    package let incarnation: Int
    /// Increases with each connection of this registration.
    package let connection: Int

    package init(host: Int, incarnation: Int, connection: Int) {
        self.host = host
        self.incarnation = incarnation
        self.connection = connection
    }
}

/// The answer to `resume`.
package struct ResumedSession: Equatable, Sendable {
    package let session: HostSession
    /// The number of the last batch that was kept.
    package let lastBatch: Int64

    package init(session: HostSession, lastBatch: Int64) {
        self.session = session
        self.lastBatch = lastBatch
    }
}

/// The answer to `claim`.
package struct ClaimAnswer: Equatable, Sendable {
    /// The partitions that the host has newly, in their order.
    package var grants: [PartitionGrant]
    /// How many partitions of each pool the host should own.
    package var shares: [UInt8: Int]

    package init(grants: [PartitionGrant], shares: [UInt8: Int]) {
        self.grants = grants
        self.shares = shares
    }
}

/// The state of a partition, as its next owner restores it.
package struct PartitionContents: Sendable {
    /// Requests without a run, the oldest first.
    package var pending: [Request] = []
    /// Runs that were in progress when the last owner lost the partition, with their requests.
    package var interrupted: [(request: Request, run: RunRecord)] = []
    package var dead: [DeadLetter] = []
    package var memories: [TaskMemory] = []

    package init() {}
}
