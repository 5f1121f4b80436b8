// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

extension TaskMemory {
    /// The time for which the served times of a removed schedule are kept, nanoseconds.
    ///
    /// An operator may remove a task by mistake and restore it, and the clock may be set back meanwhile.
    private static let servedKeptFor = Parking.keptFor

    /// Ends its schedule; if the schedule comes back, the time of its absence does not count as missed.
    ///
    /// That of a boot stays, so that its start does not come again in the same boot.
    ///
    /// - Returns: whether that changed anything.
    mutating func endSchedule() -> Bool {
        guard !schedule.isEmpty, !TaskSchedule.isOfBoot(schedule) else { return false }
        schedule = ""
        scheduledSince = nil
        return true
    }

    /// Until when it may affect a start of a task that the manifest does not name, Unix nanoseconds; `nil` if
    /// it does not.
    func effectiveUntil(now: Int64) -> Int64? {
        guard parkedSince == nil else { return .max }
        let served = [lastServedTime, served.last].compactMap {
            $0?.addingClamped(Self.servedKeptFor)
        }
        let end = (served + [throttle.end, uses.end].compactMap { $0 }).max()
        return end.flatMap { $0 > now ? $0 : nil }
    }
}
