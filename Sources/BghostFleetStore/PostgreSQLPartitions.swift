// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleet
package import BghostFleetRules
package import BghostModel

/// The partitions of a fleet in a PostgreSQL database, as one host uses them.
///
/// Each call is one message to the server and one transaction, but for the first part of `contents`, `register`,
/// and the first call of a connection. Use it on one thread; each message takes as long as the time
/// limit at most.
package final class PostgreSQLPartitions: PartitionStore {
    let partitions: UInt16
    /// The time limit of each message, nanoseconds.
    private let timeout: UInt64
    private var connector: PostgreSQLConnector
    private var session: PostgreSQLSession?

    /// How long ended runs are kept, nanoseconds.
    private static let runsKeptFor: Int64 = 30 * 86_400_000_000_000
    /// The number of batches between two looks for older ones.
    private static let cleanupPeriod = 1000
    private var batches = 0

    /// - Parameters:
    ///   - connection: a connection string of libpq.
    ///   - partitions: the partitions of each pool, 1 or more. The first host of a fleet determines them; those
    ///     with another number are refused.
    ///   - timeout: nanoseconds.
    ///   - library: the name or the path of libpq.
    package init(
        connection: String,
        partitions: UInt16,
        timeout: UInt64,
        library: String? = nil
    ) {
        self.partitions = max(1, partitions)
        self.timeout = timeout
        connector = PostgreSQLConnector(
            connection: connection,
            schema: PartitionSchema.versions,
            library: library
        )
    }

    // MARK: Hosts

    package func incarnation(of name: String) throws(FleetRefusal) -> FenceNumber {
        guard let row = try rows(PartitionSchema.incarnation, [name]).first else { return .none }
        return FenceNumber(
            count: Int(try number(row, 0)),
            nonce: FenceNonce(stored: UInt64(bitPattern: try number(row, 1)))
        )
    }

    package func register(
        _ terms: HostTerms,
        after last: FenceNumber,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> HostSession {
        // Also the store that goes back to before its first host has its partitions then.
        try run(PartitionSchema.found, ["\(partitions)", list(terms.pools.sorted())])
        let row =
            try rows(
                PartitionSchema.register,
                [
                    terms.name, "\(Double(terms.lease) / 1e9)",
                    "\(PartitionShare.counted(terms.slots))",
                    list(terms.pools.sorted()), "\(last.count)", text(last.nonce), text(nonce),
                ]
            ).first ?? []
        return HostSession(
            host: Int(try number(row, 0)),
            incarnation: FenceNumber(count: Int(try number(row, 1)), nonce: nonce),
            connection: FenceNumber.none.next(nonce)
        )
    }

    package func resume(
        _ session: HostSession,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> ResumedSession {
        let row = try rows(
            PartitionSchema.resume,
            fence(session) + [list(session.unanswered.map(text)), text(nonce)]
        ).first
        guard let row else { throw .fenced }
        return ResumedSession(
            session: HostSession(
                host: session.host,
                incarnation: session.incarnation,
                connection: FenceNumber(count: Int(try number(row, 0)), nonce: nonce)
            ),
            lastBatch: try number(row, 1)
        )
    }

    package func leave(_ session: HostSession) throws(FleetRefusal) {
        try run(PartitionSchema.leave, fence(session))
    }

    // MARK: Partitions

    package func claim(
        holding held: [PartitionID],
        mayReap: Bool,
        nonce: FenceNonce,
        _ session: HostSession
    ) throws(FleetRefusal) -> ClaimAnswer {
        let rows = try rows(
            PartitionSchema.claim,
            fence(session) + lists(held) + ["\(mayReap)", text(nonce)]
        )
        var answer = ClaimAnswer(session: session, grants: [], shares: [:])
        for row in rows {
            let (first, second) = (try number(row, 1), try number(row, 2))
            switch row[0] {
            case "share": answer.shares[UInt8(clamping: first)] = Int(second)
            case "grant":
                let partition = PartitionID(
                    pool: UInt8(clamping: first),
                    number: UInt16(clamping: second)
                )
                let epoch = UInt32(clamping: try number(row, 3))
                answer.grants.append(PartitionGrant(partition, epoch: epoch))
            default:
                answer.session = HostSession(
                    host: session.host,
                    incarnation: session.incarnation,
                    connection: FenceNumber(
                        count: Int(first),
                        nonce: FenceNonce(stored: UInt64(bitPattern: second))
                    )
                )
            }
        }
        answer.grants.sort { $0.partition < $1.partition }
        return answer
    }

    package func offer(slots: Int, _ session: HostSession) throws(FleetRefusal) {
        let values = fence(session) + ["\(PartitionShare.counted(slots))"]
        guard try !rows(PartitionSchema.offer, values).isEmpty else { throw .fenced }
    }

    package func release(
        _ partitions: [PartitionID],
        _ session: HostSession
    ) throws(FleetRefusal) {
        try run(PartitionSchema.release, fence(session) + lists(partitions))
    }

    package func owners() throws(FleetRefusal) -> [PartitionID: String] {
        var owners: [PartitionID: String] = [:]
        for row in try rows(PartitionSchema.owners, []) {
            let partition = PartitionID(
                pool: UInt8(clamping: try number(row, 0)),
                number: UInt16(clamping: try number(row, 1))
            )
            owners[partition] = row[2]
        }
        return owners
    }

    // MARK: Requests

    package func commit(
        _ batch: FleetBatch,
        number: Int64,
        _ session: HostSession
    ) throws(FleetRefusal) -> Int64 {
        let text: String
        do {
            text = try BatchText.text(of: batch)
        } catch {
            throw .failed(FleetProblem(.statement, "a batch cannot be written as JSON: \(error)"))
        }
        let row = try rows(PartitionSchema.keep, fence(session) + ["\(number)", text]).first
        let now = try self.number(row ?? [], 0)
        forgetRuns(now: now)
        return now
    }

    /// Deletes ended runs that are too old, once in a while, and with each batch until none is left.
    ///
    /// - Parameter now: by the clock of the server, Unix nanoseconds.
    private func forgetRuns(now: Int64) {
        batches += 1
        guard batches % Self.cleanupPeriod == 1 else { return }
        do throws(FleetRefusal) {
            let before = now.subtractingClamped(Self.runsKeptFor)
            let gone = try rows(PartitionSchema.forget, ["\(before)"]).first
            if try number(gone ?? [], 0) == PartitionSchema.forgottenMax { batches = 0 }
        } catch {
            // The batch is kept, and a later one looks again.
            batches = 0
        }
    }

    func unreadable(_ request: RunID) -> FleetRefusal {
        .failed(
            FleetProblem(
                .version,
                "request \(request) cannot be read; a newer bghost on another host may have written it:"
                    + " update bghost on this host"
            )
        )
    }

    // MARK: The session

    func run(_ statement: String, _ parameters: [String]) throws(FleetRefusal) {
        // The functions that answer nothing return an empty row.
        _ = try rows(statement, parameters)
    }

    func rows(
        _ statement: String,
        _ parameters: [String]
    ) throws(FleetRefusal) -> [PostgreSQLSession.Row] {
        let session = try readySession()
        do throws(FleetProblem) {
            return try session.rows(statement, parameters)
        } catch {
            let refusal = refusal(error, state: session.isBroken ? nil : session.refusedState)
            // A statement that does not fit may meet another version of the schema, or a server that became a
            // standby: the next session finds out.
            if case .failed = refusal { self.session = nil }
            throw refusal
        }
    }

    private func readySession() throws(FleetRefusal) -> PostgreSQLSession {
        if let session { return session }
        do throws(FleetProblem) {
            let session = try connector.connect(timeout: timeout)
            self.session = session
            return session
        } catch {
            throw .failed(error)
        }
    }

    private func refusal(_ problem: FleetProblem, state: String?) -> FleetRefusal {
        switch state {
        case PartitionSchema.Refusal.fenced: .fenced
        case PartitionSchema.Refusal.drift, PartitionSchema.Refusal.uniqueViolation: .drift
        case PartitionSchema.Refusal.unknownPartition: .unknownPartition
        case PartitionSchema.Refusal.registeredMeanwhile: .registeredMeanwhile
        case PartitionSchema.Refusal.otherPartitions:
            .failed(
                FleetProblem(
                    .version,
                    "the fleet was founded with another number of partitions than the \(partitions) of"
                        + " this host; give all hosts the same number"
                )
            )
        default: .failed(problem)
        }
    }

    // MARK: Parameters and answers

    private func fence(_ session: HostSession) -> [String] {
        [
            "\(session.host)", "\(session.incarnation.count)", text(session.incarnation.nonce),
            "\(session.connection.count)", text(session.connection.nonce),
        ]
    }

    private func text(_ nonce: FenceNonce) -> String { "\(Int64(bitPattern: nonce.value))" }

    /// An array of PostgreSQL.
    private func list(_ numbers: [some CustomStringConvertible]) -> String {
        "{" + numbers.map(\.description).joined(separator: ",") + "}"
    }

    /// The pools and the numbers of partitions.
    private func lists(_ partitions: [PartitionID]) -> [String] {
        [list(partitions.map(\.pool)), list(partitions.map(\.number))]
    }

    func number(_ row: PostgreSQLSession.Row, _ column: Int) throws(FleetRefusal) -> Int64 {
        guard row.indices.contains(column), let number = row[column].flatMap({ Int64($0) }) else {
            throw .failed(FleetProblem(.statement, "an answer of the server has no number"))
        }
        return number
    }
}
