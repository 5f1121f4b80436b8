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
