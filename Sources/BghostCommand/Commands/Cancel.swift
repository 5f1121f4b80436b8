// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

struct Cancel: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Withdraw the pending requests of a task, of a tag or of all tasks.",
        discussion: """
            The pending request, repetitions after failures, and what trigger has made. A run \
            under way is not touched: stop ends one. Dead letters are not touched: discard gives \
            them up. A task with a schedule waits for its next time. --fleet takes the id of one request of \
            a task with `inFleet`, as `bghost pending --fleet` lists it, and cancels it on whichever host it \
            waits or runs.
            """
    )

    @Argument(
        help: ArgumentHelp("The task, or with --fleet the request.", valueName: "id"),
        completion: .taskNames
    )
    var task: String?

    @Option(
        help: ArgumentHelp("All tasks of the manifest with this tag.", valueName: "name"),
        completion: .tagNames
    )
    var tag: String?

    @Flag(help: "All tasks.")
    var all = false

    @Flag(help: "Cancel one request of the fleet, also one that runs.")
    var fleet = false

    @Option(
        help: ArgumentHelp(
            "Withdraw nothing unless exactly this many requests wait.",
            valueName: "n"
        )
    )
    var expect: Int?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let given = [task != nil, tag != nil, all].filter { $0 }.count
        // An empty tag, as of a variable that is not set, must not select anything.
        guard given == 1, tag != "", task != "" else {
            throw ValidationError("name one task, or give --tag or --all")
        }
        guard !fleet || task != nil && expect == nil else {
            throw ValidationError("--fleet needs the id of a request, and has no --expect")
        }
        try DeadLetterOptions.check(expect)
    }

    func run() async throws {
        if fleet, let task { return try await cancelInFleet(task) }
        try await ask { client, console in
            let answer =
                if let tag {
                    try await client.cancelPending(tag: tag, expected: expect)
                } else {
                    try await client.cancelPending(task: task, expected: expect)
                }
            guard !output.json else { return console.answer(json: answer.json) }
            let cancelled = answer.value
            guard cancelled.count > 0 else { return console.answer("nothing was waiting\n") }
            for request in cancelled.requests {
                let task = TerminalText.escaped(request.task)
                console.answer("request \(request.id) of \(task) is withdrawn\n")
            }
            let others = cancelled.count - cancelled.requests.count
            if others > 0 { console.answer("and \(others) more\n") }
        }
    }
}
