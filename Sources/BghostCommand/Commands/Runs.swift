// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostModel
internal import BghostTerminal
internal import BghostViews

struct Runs: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "List runs, the newest first.",
        discussion: """
            All conditions that are given must hold. A time is a date (2026-11-21T03:00:00Z), a local \
            time of the manifest's zone (03:00, the last one; 2026-11-21 03:00), or a duration ago (2h, \
            3d). A run counts by its end; one in progress ends now.
            """
    )

    @Argument(
        help: ArgumentHelp("Only runs of this task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String?

    @Option(
        name: .customLong("task"),
        help: ArgumentHelp("The same.", valueName: "id"),
        completion: .taskNames
    )
    var taskOption: String?

    @Option(
        help: ArgumentHelp("Only runs of this plugin or function.", valueName: "name"),
        completion: .pluginNames
    )
    var plugin: String?

    @Option(
        help: ArgumentHelp("Only runs of tasks that have this tag now.", valueName: "name"),
        completion: .tagNames
    )
    var tag: String?

    @Flag(help: "Only runs that have ended and did not succeed.")
    var failed = false

    @Flag(
        help: "List starts that did not happen or happened late instead, the latest due date first."
    )
    var skipped = false

    @Flag(
        help: ArgumentHelp(
            "List the sums of runs by task and day of UTC instead, also of deleted runs, the latest day first."
        )
    )
    var byDay = false

    @Option(
        help: ArgumentHelp(
            "Only runs in this state: running, or an outcome such as killed.",
            valueName: "word"
        ),
        completion: .list(RunFilter.State.words)
    )
    var state: String?

    @Option(help: ArgumentHelp("Only runs that ended at this time or later.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only runs that ended before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Only runs whose id begins like this.", valueName: "prefix"))
    var id: String?

    @Option(help: ArgumentHelp("Only runs whose message has this text.", valueName: "text"))
    var text: String?

    @Option(
        help: ArgumentHelp(
            "Only runs before this number, which the page before names.",
            valueName: "n"
        )
    )
    var before: Int64?

    @Option(
        help: ArgumentHelp(
            "Only runs after this number, which `--json` names as `newer`.",
            valueName: "n"
        )
    )
    var after: Int64?

    @Option(
        help: ArgumentHelp("With --skipped: only what happened like this.", valueName: "word"),
        completion: .list(SkippedStart.Kind.allCases.map(\.rawValue))
    )
    var what: String?

    @Option(
        help: ArgumentHelp(
            "With --skipped or --by-day: only what follows the page that names this cursor.",
            valueName: "cursor"
        )
    )
    var cursor: String?

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 20

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...ControlLimits.runsMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.runsMax)")
        }
        guard task == nil || taskOption == nil else {
            throw ValidationError("give the task as an argument or with --task, not both")
        }
        guard !failed || state == nil else {
            throw ValidationError("give --failed or --state, not both")
        }
        if let state, RunFilter.State(text: state) == nil {
            throw ValidationError(
                "--state must be one of \(RunFilter.State.words.joined(separator: ", "))"
            )
        }
        if byDay {
            guard !skipped, !failed, plugin == nil, state == nil, id == nil, text == nil,
                what == nil, before == nil, after == nil, tag == nil
            else {
                throw ValidationError(
                    "--by-day goes with a task, --since, --until, --cursor and --limit only"
                )
            }
        } else if skipped {
            guard !failed, state == nil, id == nil, text == nil, before == nil, after == nil,
                tag == nil
            else {
                throw ValidationError(
                    "--skipped goes with a task, --plugin, --what, --since, --until, --cursor and --limit only"
                )
            }
            if let what, SkippedStart.Kind(rawValue: what) == nil {
                let words = SkippedStart.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--what must be one of \(words)")
            }
        } else if what != nil || cursor != nil {
            throw ValidationError(
                "--what goes with --skipped only, --cursor with --skipped or --by-day"
            )
        }
        guard before ?? 0 >= 0, after ?? 0 >= 0 else {
            throw ValidationError("--before and --after must not be negative")
        }
    }

    private var filter: RunFilter {
        RunFilter(task: task ?? taskOption, plugin: plugin, idPrefix: id, text: text)
    }

    func run() async throws {
        let question = RunQuestion(
            RunQuery(filter, before: before, after: after, limit: limit),
            since: since,
            until: until,
            tag: tag
        )
        guard !byDay else {
            return try await ask { client, console in
                let answer = try await client.runDays(
                    task: filter.task,
                    since: since,
                    until: until,
                    cursor: cursor,
                    limit: limit
                )
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(RunDaysView(answer.value).text(console.out))
            }
        }
        guard !skipped else {
            return try await ask { client, console in
                let answer = try await client.skippedStarts(
                    task: filter.task,
                    plugin: plugin,
                    what: what,
                    since: since,
                    until: until,
                    cursor: cursor,
                    limit: limit
                )
                guard !output.json else { return console.answer(json: answer.json) }
                let view = SkippedStartsView(answer.value, now: unixNow())
                console.answer(view.text(console.out))
            }
        }
        let state = failed ? "unsuccessful" : self.state
        try await ask { client, console in
            let answer = try await client.runs(question, state: state)
            guard !output.json else { return console.answer(json: answer.json) }
            let view = RunsView(
                answer.value,
                isFiltered: state != nil || question.since != nil || question.until != nil
                    || filter != RunFilter(task: filter.task) || before != nil || after != nil
                    || tag != nil,
                now: unixNow()
            )
            console.answer(view.text(console.out))
        }
    }
}
