// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostModel
internal import BghostTerminal
internal import BghostViews

/// The options that select what is paused.
struct PauseTargetOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A task, or the pattern of several such as 'org.example.*'.",
            valueName: "id|pattern"
        ),
        completion: .taskNames
    )
    var task: String?

    @Option(
        help: ArgumentHelp("All tasks of this plugin.", valueName: "name"),
        completion: .pluginNames
    )
    var plugin: String?

    @Flag(help: "All tasks.")
    var all = false

    func validate() throws {
        if let task, IdentifierPattern(task) == nil {
            throw ValidationError(
                "'\(TerminalText.escaped(task))' is neither the identifier of a task nor a pattern such as"
                    + " 'org.example.*'"
            )
        }
    }

    /// Exactly one of them; `nil` without any.
    func target() throws -> PauseTarget? {
        switch (task, plugin, all) {
        case (let task?, nil, false): .tasks(task)
        case (nil, let plugin?, false): .plugin(plugin)
        case (nil, nil, true): .all
        case (nil, nil, false): nil
        default: throw ValidationError("give one task or pattern, or --plugin, or --all")
        }
    }
}

struct PauseTasks: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause tasks: start nothing of them until resume, also across restarts.",
        discussion: """
            Runs in progress end by themselves. Starts of schedules that fall into the pause do not \
            happen and are not made up for: `bghost runs --skipped` lists them. Other requests wait \
            for the end of the pause, and `bghost trigger` of a paused task is refused. \
            A second pause of the same words changes its end and its reason.
            """
    )

    @OptionGroup var choice: PauseTargetOptions

    @Option(
        help: ArgumentHelp(
            "End the pause at this time: a date (2026-11-21T03:00:00Z), or a time of the manifest's"
                + " zone (03:00, the next one; 2026-11-21 03:00).",
            valueName: "time"
        )
    )
    var until: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("End the pause after this time, such as 2h.", valueName: "duration"),
        transform: Self.seconds(from:)
    )
    var seconds: Int?

    @Option(help: ArgumentHelp("Why, for those who look.", valueName: "text"))
    var reason = ""

    @Flag(help: "List the pauses instead; this changes nothing.")
    var list = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let target = try choice.target()
        guard list == (target == nil) else {
            throw ValidationError(
                list
                    ? "--list takes no task, --plugin or --all"
                    : "give a task or pattern, or --plugin, or --all; --list lists the pauses"
            )
        }
        guard until == nil || seconds == nil else {
            throw ValidationError("give --until or --for, not both")
        }
        guard reason.utf8.count <= ControlLimits.reasonBytesMax else {
            throw ValidationError("--reason has at most \(ControlLimits.reasonBytesMax) bytes")
        }
    }

    func run() async throws {
        guard let target = try choice.target() else { return try await show() }
        let end: PauseOrder.End =
            until.map { .at($0) } ?? seconds.map { .after($0) } ?? .open
        try await ask { client, console in
            let answer = try await client.pause(target, end: end, reason: reason)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(PauseView.begun(answer.value, now: unixNow()))
        }
    }

    private func show() async throws {
        try await ask { client, console in
            let answer = try await client.pauses()
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(PauseView(pauses: answer.value, now: unixNow()).text(console.out))
        }
    }

    private static func seconds(from text: String) throws -> Int {
        guard let length = HumanText.duration(from: text), length >= .seconds(1) else {
            throw ValidationError(
                "'\(TerminalText.escaped(text))' is no duration of at least 1s such as 30m or 2h"
            )
        }
        return Int(length.components.seconds)
    }
}

struct ResumeTasks: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused tasks: end a pause before its time.",
        discussion: """
            A pause ends by the words with which it began: `bghost resume --all` ends the pause of \
            `bghost pause --all`, and leaves that of a single task.
            """
    )

    @OptionGroup var choice: PauseTargetOptions

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard try choice.target() != nil else {
            throw ValidationError("give a task or pattern, or --plugin, or --all")
        }
    }

    func run() async throws {
        guard let target = try choice.target() else { return }
        try await ask { client, console in
            let answer = try await client.resume(target)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(PauseView.ended(answer.value, now: unixNow()))
        }
    }
}
