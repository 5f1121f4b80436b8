// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
@testable import BghostServices
import BghostTestSupport
import Testing

/// The owner of the deadlines, without a daemon and without a process.
@Suite struct DeadlinesTests {
    /// What each executor waits for, by serial number.
    private final class Wanted {
        var deadlines: [UInt32: MonotonicInstant] = [:]
    }

    private static func serials(_ deadlines: Deadlines, now: MonotonicInstant) -> [UInt32] {
        var serials: [UInt32] = []
        deadlines.handleDue(now: now) {
            if case .executor(let serial) = $0 { serials.append(serial) }
        }
        return serials
    }

    @Test func `Deadlines fire in order, and the reactor waits for the next`() throws {
        let reactor = try Reactor()
        let deadlines = Deadlines(reactor)
        deadlines.arm(.executor(3), at: 30)
        deadlines.arm(.executor(1), at: 10)
        deadlines.arm(.executor(2), at: 20)
        #expect(reactor.deadline == 10)
        #expect(Self.serials(deadlines, now: 9).isEmpty)
        #expect(Self.serials(deadlines, now: 25) == [1, 2])
        #expect(reactor.deadline == 30)
        #expect(Self.serials(deadlines, now: 30) == [3])
        #expect(reactor.deadline == .never)
    }

    @Test func `A replaced deadline does not fire`() throws {
        let deadlines = Deadlines(try Reactor())
        let wanted = Wanted()
        deadlines.begin { token, deadline in
            guard case .executor(let serial) = token else { return false }
            return wanted.deadlines[serial] == deadline
        }
        deadlines.arm(.executor(1), at: 10)
        deadlines.arm(.executor(1), at: 20)
        wanted.deadlines[1] = 20
        #expect(Self.serials(deadlines, now: 15).isEmpty)
        #expect(Self.serials(deadlines, now: 20) == [1])
    }

    @Test func `A due deadline that is armed during a round fires in that round`() throws {
        let deadlines = Deadlines(try Reactor())
        deadlines.arm(.executor(1), at: 10)
        var serials: [UInt32] = []
        deadlines.handleDue(now: 10) { token in
            guard case .executor(let serial) = token else { return }
            serials.append(serial)
            if serial < 3 { deadlines.arm(.executor(serial + 1), at: 10) }
        }
        #expect(serials == [1, 2, 3])
    }

    @Test func `Forgotten deadlines do not stay in memory`() throws {
        let deadlines = Deadlines(try Reactor())
        let wanted = Wanted()
        deadlines.begin { token, deadline in
            guard case .executor(let serial) = token else { return false }
            return wanted.deadlines[serial] == deadline
        }
        // As short runs under a long limit do: each arms a deadline and never needs it.
        for number in 1...100_000 as ClosedRange<UInt64> {
            deadlines.arm(.executor(1), at: 1_000_000 + number)
            deadlines.forget()
        }
        #expect(deadlines.count == 0)
        wanted.deadlines[2] = 5
        deadlines.arm(.executor(2), at: 5)
        #expect(deadlines.count == 1)
        #expect(Self.serials(deadlines, now: 5) == [2])
    }

    @Test(arguments: [
        TimerToken.run(1 << 40), .executor(.max), .audit(7), .explain(.max), .plugin(1000), .dates,
        .facts, .placement, .clock, .alerts, .heartbeat, .auditHead, .auditRow,
    ])
    func `Each token survives its form in the heap`(token: TimerToken) {
        #expect(TimerToken(token.raw) == token)
    }
}
