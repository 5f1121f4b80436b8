// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import ArgumentParser
internal import BghostControl
internal import BghostModel
internal import BghostTerminal

struct Submit: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Request a run of a task under its own conditions.",
        discussion: """
            A request that is pending for the same task is replaced, unless --if-absent keeps it: \
            then that request is the answer, with exit 0.
            """
    )

    @Argument(
        help: ArgumentHelp("The task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String

    @OptionGroup var request: RequestOptions
    @OptionGroup var trace: TraceOptions

    @Option(
        help: ArgumentHelp(
            "Not before this time: as RFC 3339 has it, or +30s from now.",
            valueName: "time"
        ),
        transform: Self.time(from:)
    )
    var earliest: Int64?

    @Option(
        help: ArgumentHelp(
            "Not after this time, or not at all; the same forms.",
            valueName: "time"
        ),
        transform: Self.time(from:)
    )
    var latest: Int64?

    @Option(
        help: ArgumentHelp(
            "How much later it may begin, such as 10m, so that several begin together.",
            valueName: "duration"
        ),
        transform: Self.tolerance(from:)
    )
    var tolerance: Int64?

    @Option(
        help: ArgumentHelp(
            "What becomes of a request that is pending: replace, keep, update (new parameters,"
                + " same dates), or append (the new one begins after it, and after runs).",
            valueName: "what"
        )
    )
    var onConflict = Submission.Conflict.replace

    @Flag(help: "Only if no request of the task is pending: --on-conflict keep.")
    var ifAbsent = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let submission = Submission(
            task: task,
            parameters: try request.parametersText(),
            earliestBegin: earliest,
            latestBegin: latest,
            tolerance: tolerance,
            onConflict: ifAbsent ? .keep : onConflict
        )
        try await ask { [submission] client, console in
            var submission = submission
            submission.trace = try trace.context { console.remark($0) }
            let answer = try await client.submit(submission)
            console.answer(answer.value, answer.json, isJSON: output.json)
        }
    }

    static func time(from text: String) throws -> Int64 {
        guard let time = time(from: text, now: unixNow()) else {
            throw ValidationError(
                "'\(text)' is no time such as 2026-11-21T16:30:00Z or +30s, from 1677 to 2262"
            )
        }
        return time
    }

    static func tolerance(from text: String) throws -> Int64 {
        let duration = HumanText.duration(from: text)
        guard let duration, duration >= .zero, duration <= .seconds(30 * 86_400) else {
            throw ValidationError("'\(text)' is not a duration from 0s to 30d such as 10m")
        }
        return Int64(clamping: duration.clampedNanoseconds)
    }

    /// Parses a time, Unix nanoseconds; `nil` if the text is not a time.
    private static func time(from text: String, now: Int64) -> Int64? {
        guard text.hasPrefix("+") else { return Timestamp.unixNanoseconds(text) }
        guard let delay = HumanText.duration(from: String(text.dropFirst())) else { return nil }
        let (time, overflow) = now.addingReportingOverflow(Int64(delay.clampedNanoseconds))
        return overflow ? nil : time
    }
}

extension Submission.Conflict: ExpressibleByArgument {}
