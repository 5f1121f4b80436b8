// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostModel
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Logs: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show the log of the daemon, a task or a run.",
        discussion: """
            The newest lines come from the daemon's memory, older ones from the files of `host.log.file`, \
            over restarts. Without a daemon, --state-dir reads the files. A time is a date \
            (2026-11-21T03:00:00Z), a local time of the manifest's zone (03:00, the last one; 2026-11-21 \
            03:00), or a duration ago (2h, 3d). With --json and --follow each line is an object of its own.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Only this task, or this run by the beginning of its id.",
            valueName: "id|run"
        )
    )
    var subject: String?

    @Option(
        help: ArgumentHelp("Only this task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String?

    @Option(
        name: .customLong("run"),
        help: ArgumentHelp("Only this run, by the beginning of its id.", valueName: "id")
    )
    var runPrefix: String?

    @Flag(name: [.short, .long], help: "Go on with each new line until Ctrl-C.")
    var follow = false

    @Option(help: ArgumentHelp("Only lines of at least this level.", valueName: "level"))
    var level: LevelName?

    @Option(
        help: ArgumentHelp("Only lines of this plugin.", valueName: "name"),
        completion: .pluginNames
    )
    var plugin: String?

    @Option(help: ArgumentHelp("Only lines with this text.", valueName: "text"))
    var text: String?

    @Option(help: ArgumentHelp("Only lines from this time on.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only lines before this time.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp("Only lines before this place, which a page names.", valueName: "place")
    )
    var before: String?

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("At most this many lines from before.", valueName: "n")
    )
    var limit: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...ControlLimits.logLinesMax).contains(limit ?? 0) else {
            throw ValidationError("--limit must be from 0 to \(ControlLimits.logLinesMax)")
        }
        guard [subject, task, runPrefix].count(where: { $0 != nil }) <= 1 else {
            throw ValidationError("give one of a subject, --task and --run")
        }
        guard !follow || until == nil && before == nil else {
            throw ValidationError("--follow does not go with --until and --before")
        }
        guard before.map({ LogPosition($0) != nil }) ?? true else {
            throw ValidationError("--before is a place that `bghost logs` has named")
        }
    }

    private var query: ControlClient.LogQuery {
        ControlClient.LogQuery(
            task: task,
            run: runPrefix,
            plugin: plugin,
            level: level?.level,
            text: text,
            since: since,
            until: until,
            before: before,
            limit: limit ?? (follow && since == nil ? 20 : 200)
        )
    }

    func run() async throws {
        do {
            try await ask { client, console in
                var query = self.query
                if let subject {
                    if try await Self.isRun(subject, client) {
                        query.run = subject
                    } else {
                        query.task = subject
                    }
                }
                guard follow else { return try await show(query, client, console) }
                try await showNew(query, client, console)
            }
        } catch let fault as ControlFault
            where fault.code == .notRunning && connection.stateDir != nil && !follow
        {
            try OfflineLog(self, fault).show(output.console)
        }
    }

    // MARK: Pages

    private func show(
        _ query: ControlClient.LogQuery,
        _ client: ControlClient,
        _ console: Console
    ) async throws {
        answer(try await page(query, client), console)
    }

    /// Asks until there are as many lines as wanted, or no more.
    private func page(
        _ query: ControlClient.LogQuery,
        _ client: ControlClient
    ) async throws -> API.LogLines {
        // A page has fewer lines than it may where the files have few that match.
        let limit = query.limit ?? 0
        var page = try await client.logs(query).value
        var entries = page.entries
        var query = query
        while !page.next.isEmpty, entries.count < limit {
            query.before = page.next
            query.limit = limit - entries.count
            page = try await client.logs(query).value
            entries = page.entries + entries
        }
        page.entries = entries
        return page
    }

    func answer(_ page: API.LogLines, _ console: Console) {
        guard !output.json else { return console.answer(json: APICoder.text(Schema.logs, page)) }
        if !page.note.isEmpty { console.remark("note: \(TerminalText.escaped(page.note))") }
        console.answer(verbatim: page.entries.map { line($0.entry, console) }.joined())
        guard !page.next.isEmpty, since != nil || until != nil || before != nil else { return }
        console.remark("older lines: --before \(TerminalText.escaped(page.next))")
    }

    private func line(_ entry: LogEntry, _ console: Console) -> String {
        // Lines of other days need their date.
        let isDated = since != nil || until != nil || before != nil
        return LogView.line(entry, console.out, isDated: isDated)
    }

    // MARK: New lines

    /// What names a line over restarts of the daemon, each of which numbers its lines from 1.
    private struct LineKey: Hashable {
        let time: Int64
        let sequence: UInt64

        init(_ entry: LogEntry) { (time, sequence) = (entry.time, entry.sequence) }
    }

    private func showNew(
        _ query: ControlClient.LogQuery,
        _ client: ControlClient,
        _ console: Console
    ) async throws {
        guard query.since != nil else {
            return try await client.followLogs(query) { print($0.value, $0.json, console) }
        }
        // A line of this daemon, which the page may not have.
        let newest = try await client.logs(ControlClient.LogQuery(limit: 1)).value.entries.last
        let page = try await page(query, client)
        if !page.note.isEmpty { console.remark("note: \(TerminalText.escaped(page.note))") }
        for line in page.entries { print(line.entry, APICoder.text(line), console) }
        let shown = Set(page.entries.map { LineKey($0.entry) })
        var query = query
        query.since = nil
        // The daemon logs lines between the questions too.
        query.limit = ControlLimits.logLinesMax
        try await client.followLogs(query) { answer in
            let entry = answer.value
            // After a restart between the questions, smaller numbers are of later lines.
            let isOld =
                newest.map { entry.sequence <= $0.sequence && entry.time <= $0.time } ?? false
            guard !isOld, !shown.contains(LineKey(entry)) else { return }
            print(entry, answer.json, console)
        }
    }

    private func print(_ entry: LogEntry, _ json: String, _ console: Console) {
        if output.json {
            console.answer(json: json)
        } else {
            console.answer(verbatim: line(entry, console))
        }
    }

    /// Whether the subject is a prefix of a run's id; the name of a task takes precedence.
    private static func isRun(_ subject: String, _ client: ControlClient) async throws -> Bool {
        guard canBeginRunID(subject) else { return false }
        do {
            try await client.requireTask(subject)
            return false
        } catch let fault as ControlFault where fault.code == .noSuchTask {
            return true
        }
    }

    static func canBeginRunID(_ text: String) -> Bool {
        guard text.first?.isNumber == true, (1...26).contains(text.utf8.count) else { return false }
        return RunID(text + String(repeating: "0", count: 26 - text.utf8.count)) != nil
    }
}
