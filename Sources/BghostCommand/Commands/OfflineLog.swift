// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostCalendar
internal import BghostControl
internal import BghostLogFiles
internal import BghostModel
internal import BghostServices
internal import BghostTerminal

/// Reads the log's files without a daemon.
struct OfflineLog {
    private let command: Logs
    /// Why no daemon answers.
    private let fault: ControlFault
    private let stateDirectory: String

    init(_ command: Logs, _ fault: ControlFault) {
        self.command = command
        self.fault = fault
        stateDirectory = ControlLocation.normalized(command.connection.stateDir ?? "")
    }

    func show(_ console: Console) throws {
        let record: LogFileRecord
        do throws(LogFileError) {
            record = try LogFileRecord(stateDirectory: stateDirectory)
        } catch {
            throw CommandFailure(
                ExitStatus(fault.code),
                code: fault.code.rawValue,
                "\(TerminalText.escaped(fault.message)); its log cannot be read either:"
                    + " \(TerminalText.escaped(error.description))",
                fix: "start the daemon"
            )
        }
        guard record.format.isSearchable else {
            throw CommandFailure(
                .inputMissing,
                "\(TerminalText.escaped(record.file ?? "")) has lines of text, which bghost cannot search",
                fix: "read it with other tools, or set `host.log.format` to json or logfmt"
            )
        }
        console.remark("note: no daemon runs; times without an offset are UTC")
        let limit = command.limit ?? 200
        var search = LogSearch(try filter(), limit: limit)
        if let before = command.before {
            guard let cursor = LogPosition(before)?.cursor else {
                throw CommandFailure(
                    .usage,
                    "--before \(TerminalText.escaped(before)) is a place in the memory of a daemon that has ended",
                    fix: "use --until"
                )
            }
            search.before = cursor
        }
        var findings = record.search(search)
        var lines = findings.lines
        while let next = findings.next, lines.count < limit {
            (search.before, search.limit) = (next, limit - lines.count)
            findings = record.search(search)
            lines += findings.lines
        }
        let page = LogPage(
            entries: lines.reversed().map(\.entry),
            next: findings.next.map { LogPosition(sequence: 0, cursor: $0) },
            note: findings.problem.map { "not all files of the log can be read: \($0)" }
        )
        command.answer(API.LogLines(page), console)
    }

    private func filter() throws -> LogFilter {
        var filter = LogFilter(task: command.task, plugin: command.plugin, text: command.text)
        if let level = command.level?.level { filter.level = level }
        filter.since = try time(command.since, "--since")
        filter.until = try time(command.until, "--until")
        if let subject = command.runPrefix ?? command.subject {
            // Without a daemon there is no list of runs to complete a prefix.
            if let run = RunID(subject) {
                filter.run = run
            } else if command.runPrefix == nil {
                filter.task = subject
            } else {
                throw CommandFailure(
                    .usage,
                    "no daemon runs, so --run needs the whole id of a run",
                    fix: "give all 26 letters of it"
                )
            }
        }
        return filter
    }

    private func time(_ text: String?, _ option: String) throws -> Int64? {
        guard let text else { return nil }
        guard let time = PastTime.parse(text, now: unixNow(), in: .utc) else {
            throw CommandFailure(
                .usage,
                "`\(TerminalText.escaped(text))` is no time for \(option)",
                fix: "give \(PastTime.forms)"
            )
        }
        return time
    }
}
