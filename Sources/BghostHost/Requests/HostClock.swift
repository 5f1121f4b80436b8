// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux

/// The wall clock, which may be set at any time.
extension Host {
    /// Beside those of facts, far above those of workers.
    static let clockToken: UInt64 = 2 << 48

    func watchClock() {
        do throws(SystemError) {
            let watch = try ClockWatch()
            try reactor.watch(watch.fd, for: .input, token: Self.clockToken)
            clockWatch = consume watch
        } catch {
            // Dates are then looked at when their timers come, which may be late.
            log.write(.warning, "clock.unwatched", error.description)
        }
    }

    /// Looks at every date again.
    func clockWasSet() {
        clockWatch?.rearm()
        log.write(.warning, "clock.set", "somebody set the clock; all dates are looked at again")
        let now = WallClock.now
        for (entry, memory) in memories {
            book.hold(entry: entry, until: memory.debt.nextStart(now: now), now: now)
        }
        for entry in schedules.keys where book.entries[entry].pending?.slot != nil {
            submitNext(entry: entry)
        }
        requestsDue()
    }
}
