// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostLinux

/// The deadlines of the daemon, in one heap; the reactor waits for the earliest.
///
/// A deadline is not removed when it is no longer needed: its owner arms another one, and `isLive` then
/// returns `false` for the old one. The host owns it. Use it on the reactor's thread only. Arming costs
/// O(log n) in the armed deadlines and allocates nothing.
package final class Deadlines {
    private let reactor: Reactor
    private var heap = TimerHeap()
    private var isLive: (TimerToken, MonotonicInstant) -> Bool = { _, _ in true }

    package init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    /// Sets how old deadlines are recognized.
    ///
    /// - Parameter isLive: whether a deadline is still the one that its owner waits
    ///   for; it must not call this object.
    package func begin(isLive: @escaping (TimerToken, MonotonicInstant) -> Bool) {
        self.isLive = isLive
    }

    /// The number of deadlines, without those that were forgotten.
    package var count: Int { heap.count }

    /// Arms a deadline.
    ///
    /// - Parameter deadline: one that has passed is handled in the next turn.
    package func arm(_ token: TimerToken, at deadline: MonotonicInstant) {
        heap.insert(deadline: deadline.nanoseconds, token: token.raw)
        if deadline < reactor.deadline { reactor.deadline = deadline }
    }

    /// Records that an armed deadline is no longer live, so that its memory is freed in time.
    package func forget() {
        heap.forget { [isLive] in isLive(TimerToken($0), MonotonicInstant(nanoseconds: $1)) }
    }

    /// Passes each due deadline to its owner, in their order, and arms the reactor again.
    ///
    /// - Parameter handle: may arm further deadlines; those that are due follow in the same call.
    package func handleDue(now: MonotonicInstant, _ handle: (TimerToken) -> Void) {
        while let token = heap.popDue(
            now: now.nanoseconds,
            isLive: { [isLive] in isLive(TimerToken($0), MonotonicInstant(nanoseconds: $1)) }
        ) {
            handle(TimerToken(token))
        }
        reactor.deadline = heap.next.map(MonotonicInstant.init) ?? .never
    }
}

/// The purpose of a deadline in the timer heap.
package enum TimerToken: Equatable {
    case run(UInt64)
    case executor(UInt32)
    case audit(UInt32)
    case plugin(Int)
    case dates
    case facts
    case placement
    case clock
    case explain(UInt32)
    /// Reports to the service manager.
    case service
    /// Signs of life for the service manager.
    case watchdog
    /// The bound of a drain that lets runs end by themselves.
    case drain
    /// The head of the audit goes to the log.
    case auditHead
    /// A row of the audit is not stored in time.
    case auditRow
    /// What is expected of tasks is compared, or an alert is told.
    case alerts
    /// The next report that the daemon lives.
    case heartbeat
    /// The lease of this host in its fleet is to be renewed, or ends.
    case fleet
    /// The next call for the partitions of the fleet that this host owns.
    case partitions

    package init(_ raw: UInt64) {
        switch raw >> 61 {
        case 4: self = .executor(UInt32(truncatingIfNeeded: raw))
        case 5: self = .audit(UInt32(truncatingIfNeeded: raw))
        case 6: self = .plugin(Int(raw & 0xFFFF_FFFF))
        case 7:
            switch raw & 15 {
            case 0: self = .dates
            case 1: self = .facts
            case 2: self = .placement
            case 3: self = .clock
            case 5: self = .service
            case 6: self = .watchdog
            case 7: self = .drain
            case 8: self = .auditHead
            case 9: self = .alerts
            case 10: self = .heartbeat
            case 11: self = .fleet
            case 12: self = .auditRow
            case 13: self = .partitions
            default: self = .explain(UInt32(truncatingIfNeeded: raw >> 4))
            }
        default: self = .run(raw)
        }
    }

    package var raw: UInt64 {
        switch self {
        case .run(let number): number
        case .executor(let serial): 4 << 61 | UInt64(serial)
        case .audit(let serial): 5 << 61 | UInt64(serial)
        case .plugin(let index): 6 << 61 | UInt64(index)
        case .dates: 7 << 61
        case .facts: 7 << 61 | 1
        case .placement: 7 << 61 | 2
        case .clock: 7 << 61 | 3
        case .service: 7 << 61 | 5
        case .watchdog: 7 << 61 | 6
        case .drain: 7 << 61 | 7
        case .auditHead: 7 << 61 | 8
        case .alerts: 7 << 61 | 9
        case .heartbeat: 7 << 61 | 10
        case .fleet: 7 << 61 | 11
        case .auditRow: 7 << 61 | 12
        case .partitions: 7 << 61 | 13
        case .explain(let serial): 7 << 61 | UInt64(serial) << 4 | 4
        }
    }
}
