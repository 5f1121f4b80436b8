// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Decides which lines leave the daemon's memory for the journal, the console and the file.
///
/// A plugin may write a number of lines in a second, and 4 MiB; the others are counted, and one line says how
/// many there were. Time is passed in as whole seconds. A line costs one lookup.
struct LogPolicy {
    /// What a plugin wrote in the present second.
    private struct Count {
        var lines = 0
        var bytes = 0
        var limited = 0
        /// Lines about its runs that succeeded, and how many of them were not written.
        var runs = 0
        var unwrittenRuns = 0
    }

    /// How many lines of a plugin were not written in one second.
    struct Summary: Equatable {
        var plugin: String
        var event: String
        var level: LogEntry.Level
        var message: String
    }

    /// The most plugins that are counted apart.
    private static let pluginsMax = 256
    private static let bytesPerSecond = 4 << 20
    /// With `summary`, how many lines about runs that succeeded are written in a second.
    static let runsPerSecond = 10

    private var runs = LogSettings.Runs.all
    private var linesPerSecond = LogSettings().linesPerSecond
    private var second: UInt64 = 0
    private var counts: [String: Count] = [:]
    /// Lines of plugins that were not written because there were too many.
    private(set) var limited: UInt64 = 0

    mutating func apply(_ settings: LogSettings) {
        runs = settings.runs
        linesPerSecond = settings.linesPerSecond
    }

    /// Whether a line is written.
    mutating func admit(_ entry: LogEntry) -> Bool {
        guard let plugin = entry.plugin else { return true }
        if entry.source == .host {
            guard runs != .all, entry.event == "run.ended", entry.level <= .info else {
                return true
            }
            return admitRun(of: plugin)
        }
        let name = name(plugin)
        let bytes = entry.message.utf8.count
        var count = counts[name] ?? Count()
        defer { counts[name] = count }
        guard count.lines < linesPerSecond, count.bytes < Self.bytesPerSecond else {
            count.limited += 1
            limited += 1
            return false
        }
        count.lines += 1
        count.bytes += bytes
        return true
    }

    private mutating func admitRun(of plugin: String) -> Bool {
        guard runs == .summary else { return false }
        let name = name(plugin)
        counts[name, default: Count()].runs += 1
        guard counts[name]?.runs ?? 0 > Self.runsPerSecond else { return true }
        counts[name]?.unwrittenRuns += 1
        return false
    }

    private func name(_ plugin: String) -> String {
        counts[plugin] != nil || counts.count < Self.pluginsMax ? plugin : ""
    }

    /// Begins another second; call it before each line.
    ///
    /// - Returns: what was not written in the second before.
    mutating func advance(to second: UInt64) -> [Summary] {
        guard second != self.second else { return [] }
        self.second = second
        guard !counts.isEmpty else { return [] }
        defer { counts.removeAll(keepingCapacity: true) }
        return counts.sorted { $0.key < $1.key }.flatMap { summaries($0.key, $0.value) }
    }

    private func summaries(_ plugin: String, _ count: Count) -> [Summary] {
        let name = plugin.isEmpty ? "other plugins" : "plugin \(plugin)"
        var found: [Summary] = []
        if count.unwrittenRuns > 0 {
            found.append(
                Summary(
                    plugin: plugin,
                    event: "run.summary",
                    level: .info,
                    message: "\(CountText.of(count.unwrittenRuns, "more run")) of \(name) succeeded"
                        + " within a second"
                )
            )
        }
        if count.limited > 0 {
            found.append(
                Summary(
                    plugin: plugin,
                    event: "log.limited",
                    level: .warning,
                    message: "\(CountText.of(count.limited, "line")) of \(name)"
                        + (count.limited == 1 ? " was" : " were")
                        + " not written to the log's file and the journal: it wrote too much within a"
                        + " second (`host.log.rate`)"
                )
            )
        }
        return found
    }
}
