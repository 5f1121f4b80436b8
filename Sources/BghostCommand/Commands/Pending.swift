// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostModel
internal import BghostTerminal
internal import BghostViews

struct Pending: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "List pending requests, and what each waits for.",
        discussion: """
            Retries and manual runs are listed too. All conditions that are given must hold. A page that \
            does not have all requests ends with the cursor for the next one. --fleet lists the requests of \
            tasks with `inFleet` on all hosts, also those that run, as the database has them; the host that \
            owns one says with `bghost why` what it waits for.
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
        help: ArgumentHelp("Only for tasks of this plugin or function.", valueName: "name"),
        completion: .pluginNames
    )
    var plugin: String?

    @Option(
        help: ArgumentHelp(
            "Only from operator, manifest, run, or plugin (outside of its runs).",
            valueName: "word"
        ),
        completion: .list(Submitter.Kind.allCases.map(\.rawValue))
    )
    var submitter: String?

    @Option(
        help: ArgumentHelp("Only for tasks with this tag.", valueName: "name"),
        completion: .tagNames
    )
    var tag: String?

    @OptionGroup var page: PageOptions

    @Flag(help: "List what waits or runs on all hosts of the fleet, at most 1000 at a time.")
    var fleet = false

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 1000

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if fleet {
            guard plugin == nil, submitter == nil, tag == nil else {
                throw ValidationError("--fleet has no --plugin, --submitter or --tag")
            }
            guard (1...ControlLimits.fleetRequestsMax).contains(limit) else {
                let most = ControlLimits.fleetRequestsMax
                throw ValidationError("--limit must be from 1 to \(most) with --fleet")
            }
        }
        guard (1...ControlLimits.pendingMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.pendingMax)")
        }
        if let submitter, Submitter.Kind(rawValue: submitter) == nil {
            let words = Submitter.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--submitter must be one of \(words)")
        }
    }

    func run() async throws {
        if fleet {
            return try await showFleetRequests(
                isDead: false,
                task: task,
                cursor: page.cursor,
                limit: limit
            )
        }
        try await ask { client, console in
            let answer = try await client.pending(
                task: task,
                plugin: plugin,
                submitter: submitter,
                tag: tag,
                cursor: page.cursor,
                limit: limit
            )
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(PendingView(list: answer.value, now: unixNow()).text(console.out))
        }
    }
}
