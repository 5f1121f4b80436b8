// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// The fleet's store of partitions, as one host calls it.
///
/// Each call is one transaction. All calls of a host carry its registration and its connection, and the store
/// refuses those of another one: a message that was delayed in the network for however long changes
/// nothing, also if the store went back to an earlier state meanwhile. `FleetConformance` in the tests says
/// what each implementation must do.
package protocol PartitionStore {
    /// The last registration under a name; `.none` if there is none.
    mutating func incarnation(of name: String) throws(FleetRefusal) -> FenceNumber

    /// Registers a host under its name; the former registration then owns nothing.
    ///
    /// - Parameters:
    ///   - last: the last registration that the host knows of. Another one in the store is refused: without
    ///     that, a delayed message of a dead process would end the registration of its successor, whose runs
    ///     go on until it learns of that.
    ///   - nonce: a new one for each call.
    mutating func register(
        _ terms: HostTerms,
        after last: FenceNumber,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> HostSession

    /// Begins another connection of a registration; calls of the ones before are refused from then on.
    ///
    /// It renews the lease. The store refuses it if the connection in force is neither that of the session nor
    /// one whose answer the host lacks: it then went back to before that connection.
    ///
    /// - Parameter nonce: a new one for each call, from `HostSession.draw`.
    mutating func resume(
        _ session: HostSession,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> ResumedSession

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
    /// If it grants any, it begins another connection, as `resume` does. A store that goes back to before the
    /// claim then refuses the batches of a host that still believes to own them.
    ///
    /// - Parameters:
    ///   - held: the partitions that the host has. Others that it owns in the store are granted anew, since the
    ///     answer that granted them, or the one that took them back, was lost.
    ///   - mayReap: whether hosts whose leases have ended are declared dead first (`ReapRule`).
    ///   - nonce: a new one for each call, from `HostSession.draw`.
    mutating func claim(
        holding held: [PartitionID],
        mayReap: Bool,
        nonce: FenceNonce,
        _ session: HostSession
    ) throws(FleetRefusal) -> ClaimAnswer

    /// Sets with how many slots the host counts in the shares of all hosts; 0 while it claims nothing.
    mutating func offer(slots: Int, _ session: HostSession) throws(FleetRefusal)

    /// Gives partitions back; those that the host does not own are left alone.
    mutating func release(
        _ partitions: [PartitionID],
        _ session: HostSession
    ) throws(FleetRefusal)

    /// Ends the registration and gives all partitions back.
    mutating func leave(_ session: HostSession) throws(FleetRefusal)

    /// A part of the contents of a partition that the host was granted.
    ///
    /// Rows that this version of bghost cannot read are left out, and named in its `unreadable`.
    ///
    /// - Parameter place: where the part begins; `nil` for the first one.
    mutating func contents(
        of partition: PartitionID,
        after place: ContentsPlace?
    ) throws(FleetRefusal) -> ContentsPage

    /// Keeps submissions, all of them or none, until batches of the owners of their partitions take them.
    ///
    /// Every host may call it, also one that owns nothing and one that the store has declared dead: a submission
    /// is not an outcome, and it has no fence. One that still waits is kept once; one that is sent again after its
    /// owner has taken it may run twice, so it is sent once only.
    mutating func post(_ letters: [FleetLetter]) throws(FleetRefusal)

    /// Posts requests that a host has had in its own store, each of them once for good.
    ///
    /// One that was moved before is ignored, also if its owner has taken or ended it since: the host repeats the
    /// call until it has an answer.
    mutating func move(_ letters: [FleetLetter]) throws(FleetRefusal)

    /// A part of the submissions for the partitions that a host owns, in the order in which they were posted.
    ///
    /// Those that this version of bghost cannot read are left out and counted. A later submission may get a
    /// smaller number: a host that has read to the end begins anew.
    ///
    /// - Parameters:
    ///   - number: only what was posted after this one; -1 for all.
    ///   - limit: the most to read, 1 or more.
    mutating func letters(
        after number: Int64,
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> FleetLetterPage

    /// The names of the hosts that own partitions.
    mutating func owners() throws(FleetRefusal) -> [PartitionID: String]

    /// A part of the requests in all partitions; every host may call it.
    ///
    /// What hosts have taken comes in the order of partitions and ids, what waits for them after that, in the
    /// order in which it was posted.
    mutating func page(_ question: FleetQuestion) throws(FleetRefusal) -> FleetPage

    /// Asks the owner of a request to end it; every host may call it.
    ///
    /// - Returns: `nil` if the store does not have the request. One that is dead stays so.
    mutating func cancel(_ request: RunID) throws(FleetRefusal) -> FleetCancelAnswer?

    /// The cancels for the partitions that a host owns; those whose requests have ended are forgotten.
    ///
    /// - Parameters:
    ///   - request: only those of requests after this one; `nil` for all.
    ///   - limit: the most to read, 1 or more.
    mutating func cancels(
        after request: RunID?,
        limit: Int,
        _ session: HostSession
    ) throws(FleetRefusal) -> FleetCancelPage
}

/// The size of a call of the fleet's store.
///
/// Each call ends within a quarter of a lease, also on a slow link, and what does not fit follows with the
/// next one.
package enum FleetCall {
    /// The most bytes of requests, unless one alone has more.
    package static let bytesMax = 1 << 20
}

/// A submission that waits, with its place among the others.
package struct WaitingLetter: Equatable, Sendable {
    package let number: Int64
    package let letter: FleetLetter

    package init(_ number: Int64, _ letter: FleetLetter) {
        self.number = number
        self.letter = letter
    }
}

/// A part of the submissions that wait for a host.
package struct FleetLetterPage: Equatable, Sendable {
    package var letters: [WaitingLetter]
    /// The number after which the next part begins, also after an empty one; `nil` after the last one.
    package var next: Int64?
    /// How many this version of bghost cannot read.
    package var unreadable: Int

    package init(letters: [WaitingLetter] = [], next: Int64? = nil, unreadable: Int = 0) {
        self.letters = letters
        self.next = next
        self.unreadable = unreadable
    }
}

/// A submission for the host that owns its partition.
package struct FleetLetter: Equatable, Codable, Sendable {
    /// Its partition follows from its task.
    package var request: Request
    /// What it does to a pending request of its task.
    package var onConflict: ConflictPolicy

    package init(_ request: Request, _ onConflict: ConflictPolicy) {
        self.request = request
        self.onConflict = onConflict
    }

    /// - Parameter partitions: the number of partitions of the fleet.
    package func partition(of partitions: UInt16) -> PartitionID {
        PartitionID(of: request.task, partitions: partitions)
    }
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
    /// The store cannot be used, or has not answered; whether it did what the call asks for is unknown.
    ///
    /// `resume` says whether a batch was kept.
    case failed(FleetProblem)
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

/// A random number that a host draws for a registration or a connection.
///
/// The store cannot draw it: a store that went back to an earlier state may also draw the same number again.
package struct FenceNonce: Equatable, Sendable {
    package let value: UInt64

    /// Draws one.
    package init(using random: inout some RandomNumberGenerator) { value = random.next() }

    /// One that a store has kept.
    package init(stored value: UInt64) { self.value = value }
}

/// A number of a fence: a counter of the store, and the nonce of the host that increased it.
///
/// The counter orders registrations and connections. After the store went back to an earlier state, the
/// counter repeats, but the nonce does not: two numbers are the same only if both parts are.
package struct FenceNumber: Equatable, Sendable {
    package let count: Int
    package let nonce: FenceNonce

    /// The number before the first registration.
    package static let none = FenceNumber(count: 0, nonce: FenceNonce(stored: 0))

    package init(count: Int, nonce: FenceNonce) {
        self.count = count
        self.nonce = nonce
    }

    /// The next one.
    package func next(_ nonce: FenceNonce) -> FenceNumber {
        FenceNumber(count: count + 1, nonce: nonce)
    }
}

/// A connection of a registration of a host.
package struct HostSession: Equatable, Sendable {
    package let host: Int
    /// Increases with each registration under this name.
    package let incarnation: FenceNumber
    /// Increases with each connection of this registration.
    package let connection: FenceNumber
    /// What the host drew for connections of which it has no answer: one of them may be in force.
    package private(set) var unanswered: [FenceNonce] = []

    /// How many of them count; a store that does not answer for long is asked again and again.
    private static let unansweredMax = 64

    package init(host: Int, incarnation: FenceNumber, connection: FenceNumber) {
        self.host = host
        self.incarnation = incarnation
        self.connection = connection
    }

    /// Draws a nonce for a call that may begin another connection.
    ///
    /// An answer with a session takes the place of this one, and of what it drew.
    package mutating func draw(using random: inout some RandomNumberGenerator) -> FenceNonce {
        let nonce = FenceNonce(using: &random)
        unanswered.append(nonce)
        if unanswered.count > Self.unansweredMax { unanswered.removeFirst() }
        return nonce
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
    /// The connection that the host uses from now on; another one only if there are grants.
    package var session: HostSession
    /// The partitions that the host has newly, in their order.
    package var grants: [PartitionGrant]
    /// How many partitions of each pool the host should own.
    package var shares: [UInt8: Int]

    package init(session: HostSession, grants: [PartitionGrant], shares: [UInt8: Int]) {
        self.session = session
        self.grants = grants
        self.shares = shares
    }
}
