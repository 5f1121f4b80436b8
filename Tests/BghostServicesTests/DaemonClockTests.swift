// SPDX-License-Identifier: Apache-2.0

@testable import BghostBase
import BghostLinux
@testable import BghostServices
import Testing

@Suite struct DaemonClockTests {
    private static let hour: Int64 = 3_600_000_000_000

    /// The machine's clocks, set by the test.
    private final class Machine {
        var wall: Int64 = 1_700_000_000_000_000_000
        var slept: UInt64 = 5

        func clock(_ reactor: Reactor) -> DaemonClock {
            DaemonClock(reactor, machineWall: { self.wall }, machineSlept: { self.slept })
        }
    }

    @Test func `The wall clock follows the machine and keeps the operator's offset`() throws {
        let machine = Machine()
        let clock = machine.clock(try Reactor())
        #expect(clock.wall == machine.wall && clock.offset == 0)
        try clock.move(to: .by(6 * Self.hour))
        #expect(clock.wall == machine.wall + 6 * Self.hour)
        // A second step is relative to the moved clock.
        try clock.move(to: .by(-Self.hour))
        machine.wall += 10
        #expect(clock.offset == 5 * Self.hour && clock.wall == machine.wall + 5 * Self.hour)
        try clock.move(to: .to(machine.wall + Self.hour))
        #expect(clock.offset == Self.hour)
        try clock.move(to: .real)
        #expect(clock.wall == machine.wall)
    }

    @Test func `A date that no clock can show is refused and changes nothing`() throws {
        let machine = Machine()
        let clock = machine.clock(try Reactor())
        try clock.move(to: .by(Self.hour))
        #expect(throws: SimulatedClock.Failure.outOfRange) { try clock.move(to: .to(-1)) }
        #expect(clock.offset == Self.hour)
    }

    @Test func `Sleep counts into the uptime from the next reading on`() throws {
        let machine = Machine()
        let clock = machine.clock(try Reactor())
        machine.slept = UInt64(Self.hour)
        #expect(clock.slept == 5 && clock.moment.slept == 5)
        clock.read()
        #expect(clock.slept == UInt64(Self.hour))
        #expect(clock.uptime == Int64(clock.moment.monotonic.nanoseconds) + Self.hour)
        // Steps of the wall clock do not change it.
        let before = clock.uptime
        machine.wall -= 100 * Self.hour
        #expect(clock.uptime == before)
    }
}
