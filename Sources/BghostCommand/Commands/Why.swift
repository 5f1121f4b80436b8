// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl

struct Why: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a task or a request does not run, and what would have it run.",
        discussion: """
            Every gate with its value now, what it needs, since when, until when and what would \
            open it; closed ones first. The earliest start is certain only if all that is closed \
            opens by itself at a time that is known.
            """,
        aliases: ["explain"]
    )

    @Argument(
        help: ArgumentHelp(
            "The task, or the id of a request or the beginning of it.",
            valueName: "id"
        )
    )
    var id: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.explain(id)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(WhyView(answer: answer.value).text(console.out))
        }
    }
}
