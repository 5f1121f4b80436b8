// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostLinux

/// The daemon's clocks: the reactor's monotonic clock, the wall clock with the operator's offset, and
/// the time that the machine has slept.
///
/// The host owns it and forwards its descriptor. It holds no reference to the host and decides nothing:
/// after ``rearm()`` or ``setOffset(_:)`` the host checks all dates again. Use it on the reactor's thread
/// only. No call blocks or allocates, except ``beginWatch()``.
package final class DaemonClock {
    /// The reactor's token for the descriptor; above those of facts and workers.
    package static let token: UInt64 = 2 << 48

    private let reactor: Reactor
    private let machineWall: () -> Int64
    private let machineSlept: () -> UInt64
    private var watch: ClockWatch?
    /// How long the machine had slept when ``read()`` was last called, nanoseconds.
    package private(set) var slept: UInt64
    /// The operator's offset of the wall clock (`bghost simulate clock`), nanoseconds.
    package private(set) var offset: Int64 = 0

    /// - Parameters:
    ///   - machineWall: returns the machine's wall clock, Unix nanoseconds.
    ///   - machineSlept: returns how long the machine has slept since its start, nanoseconds.
    package init(
        _ reactor: Reactor,
        machineWall: @escaping () -> Int64 = { WallClock.now },
        machineSlept: @escaping () -> UInt64 = { KernelClock.slept }
    ) {
        self.reactor = reactor
        self.machineWall = machineWall
        self.machineSlept = machineSlept
        slept = machineSlept()
    }

    /// The wall clock with the operator's offset, Unix nanoseconds.
    package var wall: Int64 { machineWall().addingClamped(offset) }

    /// The time since the machine started, sleep included, nanoseconds.
    ///
    /// Steps of the wall clock do not change it.
    package var uptime: Int64 { Int64(clamping: (reactor.now + slept).nanoseconds) }

    /// The monotonic time of the last ``read()`` or reactor turn.
    package var monotonic: MonotonicInstant { reactor.now }

    /// All clocks at once.
    ///
    /// The monotonic time and the slept time are those of the last ``read()`` or reactor turn.
    package var moment: Moment { Moment(monotonic: reactor.now, unix: wall, slept: slept) }

    /// Reads the monotonic clock and the slept time together: the next decision compares them.
    package func read() {
        reactor.updateNow()
        slept = machineSlept()
    }

    /// Watches for steps of the wall clock; the reactor then reports ``token``.
    package func beginWatch() throws(SystemError) {
        let watch = try ClockWatch()
        try reactor.watch(watch.fd, for: .input, token: Self.token)
        self.watch = consume watch
    }

    /// Waits for the next step; call it each time that ``token`` is reported.
    package func rearm() { watch?.rearm() }

    /// Moves the wall clock to a date relative to the machine's clock.
    ///
    /// - Throws: ``SimulatedClock/Failure`` if no such date exists.
    package func move(to clock: SimulatedClock) throws(SimulatedClock.Failure) {
        offset = try clock.offset(machine: machineWall(), offset: offset)
    }
}
