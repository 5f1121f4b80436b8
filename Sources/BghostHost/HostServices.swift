// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostConfiguration
internal import BghostLinux
internal import BghostModel
internal import BghostServices

/// What the owners of a daemon share: its configuration, clocks and threads.
///
/// All of it is created with the host and never replaced. Use it on the reactor's thread only.
struct HostServices {
    let configuration: HostConfiguration
    let reactor: Reactor
    let clock: DaemonClock
    let deadlines: Deadlines
    let spawner: Spawner
    let threads: BlockingThreads
    let state: StateDirectory

    var log: HostLog { configuration.log }

    var timeouts: HostTimeouts { configuration.timeouts }

    /// The monotonic time at which this turn of the reactor began.
    var now: MonotonicInstant { reactor.now }
}

/// An owner that uses what the host has for all of them.
protocol SharesServices: AnyObject {
    var services: HostServices { get }
}

extension SharesServices {
    var configuration: HostConfiguration { services.configuration }
    var reactor: Reactor { services.reactor }
    var clock: DaemonClock { services.clock }
    var deadlines: Deadlines { services.deadlines }
    var spawner: Spawner { services.spawner }
    var threads: BlockingThreads { services.threads }
    var state: StateDirectory { services.state }
    var log: HostLog { services.log }
    var timeouts: HostTimeouts { services.timeouts }
    /// The monotonic time at which this turn of the reactor began.
    var now: MonotonicInstant { services.now }

    /// Writes a line of the log once the audit has the last row of the verb under way; at once outside of one.
    func logWhenNoted(_ level: LogEntry.Level, _ event: String, _ text: String) {
        AuditDetail.whenNoted { [log] in log.write(level, event, text) }
    }
}

/// An owner's reference to another owner, set once when the host connects its owners.
///
/// The owners refer to each other, so not all references can be set when the first owner is made. The host
/// keeps all of them alive.
@propertyWrapper struct Connected<Owner: AnyObject> {
    private unowned var owner: Owner?

    init() {}

    var wrappedValue: Owner {
        get {
            guard let owner else { preconditionFailure("the owners are not connected") }
            return owner
        }
        set { owner = newValue }
    }
}
