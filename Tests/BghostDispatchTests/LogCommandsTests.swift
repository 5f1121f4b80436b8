// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
@testable import BghostDispatch
import BghostLinux
import BghostModel
import BghostOwnerSupport
@testable import BghostServices
import Synchronization
import Testing

/// The owner that answers questions about the log, with files of the test.
@Suite(.timeLimit(.minutes(5))) struct LogCommandsTests {
    /// Files that answer each search with the same lines.
    private final class Archive: LogArchive {
        private let state: Mutex<(searches: [LogSearch], findings: LogFindings)>
        private let format: LogSettings.Format?

        /// - Parameter format: `nil` if no file is written.
        init(_ format: LogSettings.Format?, _ findings: LogFindings = LogFindings()) {
            self.format = format
            state = Mutex(([], findings))
        }

        var searches: [LogSearch] { state.withLock(\.searches) }

        func write(_ entry: LogEntry) {}
        func apply(_ settings: LogSettings) {}
        func reopen() {}

        var status: LogFileStatus? {
            format.map { LogFileStatus(path: "/var/log/bghost.log", format: $0) }
        }

        func search(_ search: LogSearch, _ body: @escaping @Sendable (LogFindings) -> Void) {
            body(
                state.withLock { state in
                    state.searches.append(search)
                    return state.findings
                }
            )
        }
    }

    private static func commands(
        _ reactor: Reactor,
        _ log: HostLog
    ) -> LogCommands {
        let days = 2 * day
        return LogCommands(log, DaemonClock(reactor, machineWall: { WallClock.now + days })) {
            .utc
        }
    }

    private static let day: Int64 = 86_400_000_000_000

    /// A log that keeps four lines in memory, of which so many were written.
    private static func log(_ count: Int, _ archive: Archive? = nil) -> HostLog {
        let log = HostLog(linesMax: 4, archive: archive)
        for number in 0..<count { log.write(.info, "event", "line \(number)") }
        return log
    }

    private static func old(_ number: UInt64) -> LogFindings.Line {
        LogFindings.Line(
            LogEntry(
                sequence: number,
                time: 1,
                level: .info,
                source: .host,
                event: "old",
                message: "old \(number)"
            ),
            at: LogCursor(file: 1, offset: number),
            isOwn: false
        )
    }

    @Test func `A time that cannot be read is refused, with its key`() async throws {
        try await ReactorActor.run { actor in
            let archive = Archive(.json)
            let commands = Self.commands(actor.reactor, Self.log(1, archive))
            for (question, key) in [
                (LogQuestion(since: "yestreday", limit: 1), "since"),
                (LogQuestion(until: "", limit: 1), "until"),
            ] {
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    _ = try await commands.search(question)
                }
                #expect(refusal?.code == .badTime)
                #expect(refusal?.message.contains("`\(key)`") == true)
            }
            #expect(archive.searches.isEmpty)
        }
    }

    @Test func `Pages of memory go back to its first line`() async throws {
        try await ReactorActor.run { actor in
            let commands = Self.commands(actor.reactor, Self.log(4))
            var shown: [[String]] = []
            var place: LogPosition?
            repeat {
                let page = try await commands.search(LogQuestion(before: place, limit: 3))
                shown.append(page.entries.map(\.message))
                place = page.next
            } while place != nil
            #expect(shown == [["line 1", "line 2", "line 3"], ["line 0"]])
        }
    }

    @Test func `An answer from memory alone says where older lines may be`() async throws {
        try await ReactorActor.run { actor in
            // Four of six lines are in memory, and the question is for all of them.
            let question = LogQuestion(since: "1970-01-01T00:00:00Z", limit: 100)
            let alone = try await Self.commands(actor.reactor, Self.log(6)).search(question)
            #expect(alone.note?.contains("`host.log.file` keeps them") == true)
            let text = Archive(.text)
            let beside = try await Self.commands(actor.reactor, Self.log(6, text)).search(question)
            #expect(beside.note?.contains("/var/log/bghost.log only") == true)
            #expect(text.searches.isEmpty)
            // A page that ends at its limit is continued, so it lacks nothing yet.
            let short = LogQuestion(since: "1970-01-01T00:00:00Z", limit: 2)
            let page = try await Self.commands(actor.reactor, Self.log(6)).search(short)
            #expect(page.note == nil && page.next != nil)
        }
    }

    @Test func `The files are asked for what memory has lost, and for no more than is left`()
        async throws
    {
        try await ReactorActor.run { actor in
            let findings = LogFindings(
                lines: [Self.old(9), Self.old(8)],
                next: LogCursor(file: 1, offset: 8),
                problem: "permission denied"
            )
            let archive = Archive(.json, findings)
            let commands = Self.commands(actor.reactor, Self.log(6, archive))
            // Memory has enough, so the files are not read.
            let newest = try await commands.search(LogQuestion(limit: 2))
            #expect(newest.entries.map(\.message) == ["line 4", "line 5"])
            #expect(archive.searches.isEmpty && newest.next != nil)
            let all = try await commands.search(LogQuestion(limit: 6))
            let lines = all.entries.map(\.message)
            #expect(lines.suffix(3) == ["line 3", "line 4", "line 5"] && lines.count <= 6)
            #expect(lines.prefix(2) == ["old 8", "old 9"])
            let search = try #require(archive.searches.first)
            #expect(search.limit == 6 - (lines.count - 2) && search.before == nil)
            #expect(search.belowSequence != nil && archive.searches.count == 1)
            #expect(all.next?.cursor == LogCursor(file: 1, offset: 8))
            #expect(all.note?.contains("permission denied") == true)
            _ = try await commands.search(LogQuestion(before: all.next, limit: 6))
            #expect(archive.searches.last?.before == LogCursor(file: 1, offset: 8))
        }
    }

    @Test func `The files are not asked for lines that are all in memory`() async throws {
        try await ReactorActor.run { actor in
            let archive = Archive(.json)
            let commands = Self.commands(actor.reactor, Self.log(6, archive))
            // The clock of the question is two days ahead of the lines.
            let since = Timestamp.text(unixNanoseconds: WallClock.now + Self.day)
            let page = try await commands.search(LogQuestion(since: since, limit: 100))
            #expect(page.entries.isEmpty && page.next == nil && archive.searches.isEmpty)
        }
    }

    @Test func `The check of the log's file tells what keeps lines out of it`() {
        final class Broken: LogArchive {
            let status: LogFileStatus?

            init(_ status: LogFileStatus) { self.status = status }

            func write(_ entry: LogEntry) {}
            func apply(_ settings: LogSettings) {}
            func reopen() {}
            func search(_ search: LogSearch, _ body: @escaping @Sendable (LogFindings) -> Void) {
                body(LogFindings())
            }
        }
        var status = LogFileStatus(path: "/var/log/bghost.log", format: .json)
        #expect(HostLog(archive: Broken(status)).healthCheck?.state == .ok)
        status.isMoved = true
        status.lost = 1
        let moved = HostLog(archive: Broken(status)).healthCheck
        #expect(moved?.state == .warning && moved?.remedy == "bghost reload")
        #expect(moved?.message.hasSuffix("; 1 line not written") == true)
        // It cannot be written at all, which matters more.
        status.problem = "no space left on device"
        status.problemSince = 5
        let full = HostLog(archive: Broken(status)).healthCheck
        #expect(full?.since == 5 && full?.message.contains("no space left on device") == true)
        #expect(HostLog(archive: Archive(nil)).healthCheck == nil)
        #expect(HostLog(archive: Broken(status)).dropCounts.map(\.count) == [1, 0])
    }
}
