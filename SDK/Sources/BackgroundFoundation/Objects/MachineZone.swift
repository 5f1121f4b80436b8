// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Glibc

// FoundationEssentials has no zones, and answers UTC. These have the same names in the module that
// re-exports it, so they are the ones that an app sees which imports this module alone. They are
// disfavored for a file that imports FoundationEssentials too: there, the use would be ambiguous.

extension TimeZone {
    /// The zone of this machine: by its name, with summer time, if the plugin links
    /// `FoundationInternationalization` because it uses anything of it; else as its distance from UTC at the
    /// time of the call.
    ///
    /// In the distance, summer time that begins or ends later is not: read it again when it matters, and let
    /// `tasks.json` decide about times of the day.
    @_disfavoredOverload
    public static var current: TimeZone { ofMachine(at: Date()) }

    /// The same as `current`, which has nothing to update.
    @_disfavoredOverload
    public static var autoupdatingCurrent: TimeZone { ofMachine(at: Date()) }

    /// This machine's zone by its name if Foundation has its rules, else its distance from UTC at a date; UTC
    /// if the system does not know it.
    package static func ofMachine(at date: Date) -> TimeZone {
        var time = time_t(date.timeIntervalSince1970.rounded(.down))
        var local = tm()
        // `localtime_r` does not read the zone's file by itself.
        tzset()
        guard localtime_r(&time, &local) != nil else { return .gmt }
        // Only with FoundationInternationalization are there zones of names. The system has the last word.
        if let zone = nameOfMachine.flatMap({ TimeZone(identifier: $0) }),
            zone.secondsFromGMT(for: date) == local.tm_gmtoff
        {
            return zone
        }
        return TimeZone(secondsFromGMT: local.tm_gmtoff) ?? .gmt
    }

    /// The name that tzdata has for the zone: that of this machine if it is the machine's at the date, else one of
    /// its distance from UTC; `nil` if there is none.
    package func name(at date: Date) -> String? {
        if identifier == "UTC" || identifier.contains("/") { return identifier }
        let seconds = secondsFromGMT(for: date)
        if seconds == TimeZone.ofMachine(at: date).secondsFromGMT(for: date),
            let name = TimeZone.nameOfMachine, name.contains("/")
        {
            return name
        }
        guard seconds != 0 else { return "UTC" }
        guard seconds % 3600 == 0, (-12...14).contains(seconds / 3600) else { return nil }
        // Their names have the sign of POSIX, which counts to the west.
        return "Etc/GMT\(seconds > 0 ? "-" : "+")\(abs(seconds) / 3600)"
    }

    /// The name of the machine's zone, as `TZ` or the link `/etc/localtime` has it.
    private static var nameOfMachine: String? {
        if let variable = getenv("TZ") {
            let name = String(cString: variable)
            return name.hasPrefix(":") ? String(name.dropFirst()) : name
        }
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink("/etc/localtime", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        return target.firstRange(of: "/zoneinfo/").map { String(target[$0.upperBound...]) }
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
