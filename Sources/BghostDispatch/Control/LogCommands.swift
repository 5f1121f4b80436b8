// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostCalendar
package import BghostModel
package import BghostServices

/// Answers questions about the log, from memory and from its files.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing, and another thread reads the
/// files. Memory costs O(lines in it), 8,192 at most.
package final class LogCommands {
    private let log: HostLog
    private let clock: DaemonClock
    private let zone: () -> ZoneTable

    /// - Parameter zone: the zone of the manifest.
    package init(_ log: HostLog, _ clock: DaemonClock, zone: @escaping () -> ZoneTable) {
        self.log = log
        self.clock = clock
        self.zone = zone
    }

    /// A page of the log.
    ///
    /// - Throws: if a time of the question cannot be read.
    package nonisolated(nonsending) func search(
        _ question: LogQuestion
    ) async throws(OperatorRefusal) -> LogPage {
        var filter = question.filter
        if let since = question.since {
            filter.since = try clock.past(since, of: "since", in: zone())
        }
        if let until = question.until {
            filter.until = try clock.past(until, of: "until", in: zone())
        }
        let start = question.before ?? LogPosition(sequence: .max)
        let recent = log.recent(before: start.sequence, matching: filter, limit: question.limit)
        guard let archive = log.archive, archive.status?.format.isSearchable == true else {
            return memory(recent, filter, question.limit)
        }
        return await page(recent, filter, question.limit, from: start, archive)
    }

    /// Lines in memory and in the files.
    ///
    /// From the last line that memory has lost on, memory is complete. Before it, the files have the lines that
    /// memory has lost, and memory those of rare origins that rotation has removed from the files.
    private nonisolated(nonsending) func page(
        _ recent: HostLog.Recent,
        _ filter: LogFilter,
        _ limit: Int,
        from start: LogPosition,
        _ archive: any LogArchive
    ) async -> LogPage {
        let complete = recent.entries.filter { $0.sequence >= recent.completeFrom }
        var page = LogPage(entries: complete)
        if complete.count >= limit {
            page.next = complete.first.map {
                LogPosition(sequence: $0.sequence, cursor: start.cursor)
            }
            return page
        }
        if let since = filter.since, let first = recent.completeSince, first < since { return page }
        let below = min(start.sequence, recent.completeFrom)
        let search = LogSearch(
            filter,
            limit: limit - complete.count,
            before: start.cursor,
            belowSequence: below
        )
        let findings = await withCheckedContinuation { continuation in
            archive.search(search) { continuation.resume(returning: $0) }
        }
        let rare = recent.entries.filter { $0.sequence < recent.completeFrom }
        let older = Self.merged(rare, findings, below: below, from: start, limit: search.limit)
        page.entries = older.entries + complete
        page.next = older.next
        page.note = findings.problem.map { "not all files of the log can be read: \($0)" }
        return page
    }

    /// The newest lines of both, each once, and where to go on.
    ///
    /// - Parameter rare: lines in memory, with smaller sequence numbers than `below`, the oldest first.
    static func merged(
        _ rare: [LogEntry],
        _ findings: LogFindings,
        below: UInt64,
        from start: LogPosition,
        limit: Int
    ) -> LogPage {
        let own = findings.lines.filter { $0.isOwn && $0.entry.sequence > 0 }
        // What the files have behind the place where the search stopped is not known yet.
        let floor = findings.hasOwnNext ? own.last?.entry.sequence ?? below : 0
        let known = Set(own.map(\.entry.sequence))
        var waiting = rare.filter { $0.sequence >= floor && !known.contains($0.sequence) }
        var all: [(entry: LogEntry, place: LogCursor?, isOwn: Bool)] = []
        for line in findings.lines {
            while let next = waiting.last, !line.isOwn || next.sequence > line.entry.sequence {
                // Notes of the file have no number; they stay behind the line before.
                if line.isOwn, line.entry.sequence == 0 { break }
                all.append((next, nil, true))
                waiting.removeLast()
            }
            all.append((line.entry, line.place, line.isOwn))
        }
        all += waiting.reversed().map { ($0, nil, true) }
        let shown = all.prefix(limit)
        var page = LogPage(entries: shown.reversed().map(\.entry))
        if shown.count < all.count, let last = shown.last {
            let sequence = shown.last { $0.isOwn && $0.entry.sequence > 0 }?.entry.sequence
            page.next = LogPosition(
                sequence: last.isOwn ? sequence ?? below : 0,
                cursor: shown.last { $0.place != nil }?.place ?? start.cursor
            )
        } else if let next = findings.next {
            page.next = LogPosition(sequence: floor, cursor: next)
        }
        return page
    }

    /// Lines in memory alone, with notes where some are missing.
    private func memory(_ recent: HostLog.Recent, _ filter: LogFilter, _ limit: Int) -> LogPage {
        let entries = (recent.entries + recent.gaps).sorted { $0.sequence < $1.sequence }
        var page = LogPage(entries: entries)
        if recent.entries.count >= limit {
            page.next = recent.entries.first.map { LogPosition(sequence: $0.sequence) }
        } else if let since = filter.since, let first = recent.completeSince, since < first {
            let time = Timestamp.text(unixNanoseconds: first)
            if let status = log.archive?.status {
                page.note =
                    "older lines than \(time) may be in \(status.path) only, whose lines of text"
                    + " bghost cannot search"
            } else {
                page.note =
                    "the daemon's memory may lack lines from before \(time); `host.log.file` keeps"
                    + " them, and so does the journal"
            }
        }
        return page
    }
}

extension HostLog {
    /// The check of the log's file; `nil` if none is written.
    package var healthCheck: HealthReport.Check? {
        guard let status = archive?.status else { return nil }
        let lost = status.lost > 0 ? "; \(CountText.of(status.lost, "line")) not written" : ""
        if let problem = status.problem {
            return HealthReport.Check(
                "log",
                .warning,
                since: status.problemSince,
                "the log is not written: \(problem)\(lost)",
                remedy: "make room, or correct the folder; bghost goes on by itself"
            )
        }
        if status.isMoved {
            return HealthReport.Check(
                "log",
                .warning,
                "\(status.path) was moved, and lines go to the moved file\(lost)",
                remedy: "bghost reload"
            )
        }
        return HealthReport.Check("log", .ok, "\(status.path) is written\(lost)")
    }

    /// Lines that were not written, by reason, for the metrics.
    package var dropCounts: [(reason: String, count: UInt64)] {
        [("file", archive?.status?.lost ?? 0), ("rate", limited)]
    }
}
