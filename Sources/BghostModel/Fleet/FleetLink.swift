// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The fleet's store, as one host uses it.
///
/// Each call blocks until it is answered or a bounded time has passed. Use one object on one thread.
package protocol FleetLink: AnyObject, Sendable {
    /// Renews the lease of this host; before the first time, and after an error, it connects and registers.
    ///
    /// - Parameter tasks: what `Manifest.fleetTasks` of this host is, for lists of the hosts.
    func renew(tasks: String) throws(FleetProblem) -> FleetRenewal

    /// Claims starts for this host, with one call.
    ///
    /// A claim that this host has already is confirmed.
    ///
    /// - Parameter claims: each start once.
    /// - Returns: the answer to each of them, in their order.
    func claim(_ claims: [FleetClaim]) throws(FleetProblem) -> [FleetAnswer]

    /// Ends claims of this host, with one call.
    func release(_ claims: [FleetClaim], _ release: FleetRelease) throws(FleetProblem)

    /// The hosts of the fleet in the order of their names, at most 1,000.
    func hosts() throws(FleetProblem) -> [FleetHost]

    /// Drains a host of the fleet, so that it claims no further start, or ends that.
    ///
    /// - Returns: whether that changed anything; `nil` if the fleet has no host of this name.
    func setDrained(_ isDrained: Bool, host: String) throws(FleetProblem) -> Bool?

    /// Ends the lease of this host, so that no other host waits for it, and closes the connection.
    func leave()
}

/// The answer to a renewal.
package struct FleetRenewal: Equatable, Sendable {
    /// When the renewal was sent: the lease counts from then.
    package var sentAt: MonotonicInstant
    /// The claims that this host had when it registered; empty if it only renewed its lease.
    package var open: [FleetClaim]
    /// Whether an operator has drained this host.
    package var isDrained: Bool

    package init(sentAt: MonotonicInstant, open: [FleetClaim], isDrained: Bool = false) {
        self.sentAt = sentAt
        self.open = open
        self.isDrained = isDrained
    }
}

/// Why the fleet's store gives no answer.
package struct FleetProblem: Error, Equatable, Sendable {
    package enum Kind: Sendable {
        /// libpq is not installed, or lacks a function.
        case library
        /// No server answers, or the connection broke.
        case unreachable
        /// The server refuses the connection: password, user, database.
        case refused
        /// The schema is of another version of bghost.
        case version
        /// The server cannot be written to.
        case readOnly
        /// Another daemon has this host's name.
        case nameTaken
        /// The server refuses a statement.
        case statement
    }

    package var kind: Kind
    /// A clause without secrets that says what is wrong and what to do.
    package var reason: String

    package init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
