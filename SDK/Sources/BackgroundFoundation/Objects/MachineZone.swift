// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Glibc

// FoundationEssentials has no zones, and answers UTC. These have the same names in the module that
// re-exports it, so they are the ones that an app sees which imports this module alone. They are
// disfavored for a file that imports FoundationEssentials too: there, the use would be ambiguous.

extension TimeZone {
    /// The zone of this machine, as its distance from UTC at the time of the call.
    ///
    /// Summer time that begins or ends later is not in it: read it again when it matters, and let
    /// `tasks.json` decide about times of the day.
    @_disfavoredOverload
    public static var current: TimeZone { ofMachine(at: Date()) }

    /// The same as `current`, which has nothing to update.
    @_disfavoredOverload
    public static var autoupdatingCurrent: TimeZone { ofMachine(at: Date()) }

    /// The distance of this machine's zone from UTC at a date; UTC if the system does not know it.
    package static func ofMachine(at date: Date) -> TimeZone {
        var time = time_t(date.timeIntervalSince1970.rounded(.down))
        var local = tm()
        // `localtime_r` does not read the zone's file by itself.
        tzset()
        guard localtime_r(&time, &local) != nil else { return .gmt }
        return TimeZone(secondsFromGMT: local.tm_gmtoff) ?? .gmt
    }
}

extension Calendar {
    /// The Gregorian calendar in the zone of this machine: see `TimeZone.current`.
    @_disfavoredOverload
    public static var current: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .ofMachine(at: Date())
        return calendar
    }

    /// The same as `current`, which has nothing to update.
    @_disfavoredOverload
    public static var autoupdatingCurrent: Calendar { current }
}
