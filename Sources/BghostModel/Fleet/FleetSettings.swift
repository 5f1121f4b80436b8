// SPDX-License-Identifier: Apache-2.0

/// The section `host.fleet`.
package struct FleetSettings: Equatable, Sendable {
    /// The shortest lease: below it, a busy machine would lose it without a fault.
    package static let leaseMin: Duration = .seconds(5)
    package static let leaseMax: Duration = .seconds(600)
    package static let leaseDefault: Duration = .seconds(30)
    /// The most bytes of a host's name.
    package static let nameBytesMax = 64

    /// A connection string of libpq, with its secrets in place; never log it.
    package var connection: String
    /// The name of this host in the fleet.
    package var name: String
    /// How long another host waits after the last sign of life of this one.
    package var lease: Duration

    package init(connection: String, name: String, lease: Duration = leaseDefault) {
        self.connection = connection
        self.name = name
        self.lease = lease
    }

    /// Whether a connection string is a URL whose user or password libpq may take for a server.
    ///
    /// libpq reads them up to the first `/` or `@`. What follows is a host, a port or a database to it: it looks
    /// the host up, and names all of them in its messages, so a part of a password would be no secret.
    package static func isMisleading(connection: String) -> Bool {
        let isURL = ["postgresql://", "postgres://"].contains { connection.hasPrefix($0) }
        guard isURL else { return false }
        let rest = connection.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        guard let last = rest.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return rest[..<last].contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "@") }
    }

    /// The lease, nanoseconds.
    package var leaseNanoseconds: UInt64 {
        UInt64(max(0, lease.components.seconds)) * 1_000_000_000
            + UInt64(max(0, lease.components.attoseconds)) / 1_000_000_000
    }

    /// The longest grace of a task that runs once in the fleet.
    ///
    /// Its runs are stopped when half of the lease has passed without an answer, and must have ended before
    /// another host may serve their starts.
    package var graceMax: Duration { lease / 3 }
}
