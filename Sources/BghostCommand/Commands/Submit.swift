// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl
internal import BghostCore

struct Submit: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask for a run of a task under its own conditions.",
        discussion: "A request that is pending for the same task is replaced."
    )

    @Argument(help: ArgumentHelp("The task.", valueName: "id"))
    var task: String

    @OptionGroup var request: RequestOptions

    @Option(
        help: ArgumentHelp(
            "Not before this time: as RFC 3339 has it, or +30s from now.",
            valueName: "time"
        ),
        transform: { text in
            guard let time = Self.time(from: text, now: unixNow()) else {
                throw ValidationError("'\(text)' is no time such as 2026-11-21T16:30:00Z or +30s")
            }
            return time
        }
    )
    var earliest: Int64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let submission = Submission(
            task: task,
            parameters: try request.parametersText(),
            earliestBegin: earliest
        )
        try await ask { client, console in
            let answer = try await client.submit(submission)
            console.answer(answer.value, answer.json, isJSON: output.json)
        }
    }

    /// Unix nanoseconds; `nil` if the text is no time.
    private static func time(from text: String, now: Int64) -> Int64? {
        guard text.hasPrefix("+") else { return Timestamp.unixNanoseconds(text) }
        guard let delay = HumanText.duration(from: String(text.dropFirst())) else { return nil }
        let (time, overflow) = now.addingReportingOverflow(Int64(delay.clampedNanoseconds))
        return overflow ? nil : time
    }
}
