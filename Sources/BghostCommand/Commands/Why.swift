// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl

struct Why: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a task or a request does not run, and what would unblock it.",
        discussion: """
            Each condition with its present value, what it needs, since when, until when and what \
            would unblock it; unmet ones first. The earliest start is certain only if every unmet \
            condition ends by itself at a known time.
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
