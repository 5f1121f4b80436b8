// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Why: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a task or a request does not run, and what would unblock it.",
        discussion: """
            Each condition with its present value, what it needs, since when, until when and what \
            would unblock it; unmet ones first. The earliest start is certain only if every unmet \
            condition ends by itself at a known time.

            With --at: what happened to the task around a time of the past. Its run, or why there was \
            none. A time is a date (2026-11-21T03:00:00Z), a local time of the manifest's zone (03:00, \
            the last one; 2026-11-21 03:00), or a duration ago (2h, 3d).
            """,
        aliases: ["explain"]
    )

    @Argument(
        help: ArgumentHelp(
            "The task, or the id of a request or the beginning of it.",
            valueName: "id"
        ),
        completion: .taskNames
    )
    var id: String

    @Option(
        help: ArgumentHelp("Explain what happened around this time instead.", valueName: "time")
    )
    var at: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        if let at {
            return try await ask { client, console in
                let answer = try await client.past(task: id, at: at)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(PastView(past: answer.value).text(console.out))
            }
        }
        try await ask { client, console in
            let answer = try await client.explain(id)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(WhyView(answer: answer.value).text(console.out))
        }
    }
}
