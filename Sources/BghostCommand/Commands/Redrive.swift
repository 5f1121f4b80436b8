// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

struct Redrive: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Retry dead requests.",
        discussion: """
            None of a request's failures count any more. It may begin at once, beside a newer \
            request of its task. Exits 1 if some stay dead because the manifest no longer permits \
            their task.
            """
    )

    @OptionGroup var letters: DeadLetterOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.redrive(letters.choice, expected: letters.expect)
            console.answer(answer, "waits for a run again", isJSON: output.json)
            for item in answer.value.refused {
                console.remark(
                    "request \(item.id) stays dead: the manifest has no task "
                        + TerminalText.escaped(item.task)
                )
            }
            if !answer.value.refused.isEmpty { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }
}

struct Discard: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Delete dead requests.",
        discussion: "Their runs stay in the history."
    )

    @OptionGroup var letters: DeadLetterOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.discard(letters.choice, expected: letters.expect)
            console.answer(answer, "is deleted", isJSON: output.json)
        }
    }
}

extension Console {
    fileprivate func answer(
        _ change: ControlClient.Answer<DeadLetterChange>,
        _ what: String,
        isJSON: Bool
    ) {
        guard !isJSON else { return answer(json: change.json) }
        if change.value.done.isEmpty, change.value.refused.isEmpty { answer("no dead letters\n") }
        for item in change.value.done {
            answer("request \(item.id) of \(TerminalText.escaped(item.task)) \(what)\n")
        }
        if change.value.hasMore { remark("there are more: repeat the command") }
    }
}
