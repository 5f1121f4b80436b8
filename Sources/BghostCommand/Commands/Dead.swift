// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Dead: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List dead requests (no longer retried), newest first.",
        discussion: """
            `bghost redrive` retries them, `bghost discard` deletes them. All conditions that are given \
            must hold. A time is as in `bghost runs`. A page that does not have all of them ends with the \
            cursor for the next one. --fleet lists those of all hosts, by partition and id; `bghost redrive` and \
            `bghost discard` work on the host that owns one.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Only requests of this task, or of all that begin like this (com.example.*).",
            valueName: "id"
        ),
        completion: .taskNames
    )
    var task: String?

    @Option(
        help: ArgumentHelp("Only of tasks of this plugin or function now.", valueName: "name"),
        completion: .pluginNames
    )
    var plugin: String?

    @Option(help: ArgumentHelp("Only what died at this time or later.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only what died before this time.", valueName: "time"))
    var until: String?

    @OptionGroup var page: PageOptions

    @Flag(help: "List those of all hosts of the fleet.")
    var fleet = false

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 100

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !fleet || plugin == nil && since == nil && until == nil else {
            throw ValidationError("--fleet has no --plugin, --since or --until")
        }
        guard (1...ControlLimits.deadLettersMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.deadLettersMax)")
        }
    }

    func run() async throws {
        if fleet {
            return try await showFleetRequests(
                isDead: true,
                task: task,
                cursor: page.cursor,
                limit: limit
            )
        }
        try await ask { client, console in
            let answer = try await client.deadLetters(
                task: task,
                plugin: plugin,
                since: since,
                until: until,
                cursor: page.cursor,
                limit: limit
            )
            guard !output.json else { return console.answer(json: answer.json) }
            let (letters, next) = (answer.value.letters, answer.value.next)
            console.answer(
                DeadView(letters: letters, next: next, now: unixNow()).text(console.out)
            )
        }
    }
}
