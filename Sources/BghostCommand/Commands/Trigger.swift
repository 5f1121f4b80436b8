// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostModel
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews
internal import Glibc
internal import UnixSignals

struct Trigger: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger",
        abstract: "Run a task now, ignoring its start time.",
        discussion: """
            What Apple's debugger does with _simulateLaunchForTaskWithIdentifier. Slots and limits \
            still hold. With --wait it exits 0 only if the run succeeded, 1 if it did not, and 75 \
            when --timeout is over; the run itself goes on then, as after Ctrl-C.
            """
    )

    @Argument(
        help: ArgumentHelp("The task.", valueName: "id"),
        completion: .taskNames
    )
    var task: String

    @OptionGroup var request: RequestOptions
    @OptionGroup var trace: TraceOptions

    @Flag(help: "Run it although the machine does not offer what the task requires.")
    var ignoreRequirements = false

    @Flag(help: "Wait until the run has ended.")
    var wait = false

    @Option(
        help: ArgumentHelp("How long to wait at most, such as 30s or 5m.", valueName: "time"),
        transform: { text in
            guard let time = HumanText.duration(from: text) else {
                throw ValidationError("'\(text)' is not a time such as 30s or 5m")
            }
            return time
        }
    )
    var timeout: Duration?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard wait || timeout == nil else { throw ValidationError("--timeout needs --wait") }
    }

    func run() async throws {
        let submission = Submission(
            task: task,
            parameters: try request.parametersText(),
            ignoresRequirements: ignoreRequirements
        )
        try await ask { [submission] client, console in
            var submission = submission
            submission.trace = try trace.context { console.remark($0) }
            // From here on this command handles Ctrl-C, even before the daemon responds.
            let interrupts = wait ? await UnixSignalsSequence(trapping: .sigint) : nil
            let answer = try await client.trigger(submission)
            let pending = answer.value
            guard let interrupts else {
                return console.answer(pending, answer.json, isJSON: output.json)
            }
            if !output.json {
                console.remark("request \(pending.id): waiting for the run of \(task)")
            }
            switch try await end(of: pending, client, interrupts) {
            case .ended(let run):
                if output.json {
                    console.answer(json: run.json)
                } else {
                    let view = RunView(run: run.value, now: unixNow())
                    console.answer(view.summary(console.out))
                }
                if run.value.outcome != .succeeded { throw ExitCode(ExitStatus.failure.rawValue) }
            case .timedOut:
                console.remark("not ended after \(waited); the run goes on: bghost runs \(task)")
                throw ExitCode(ExitStatus.tryLater.rawValue)
            case .interrupted:
                console.remark("\nno longer waiting; the run goes on: bghost runs \(task)")
                throw ExitCode(ExitStatus.signal(SIGINT))
            }
        }
    }

    private var waited: String { timeout.map(HumanText.duration) ?? "" }

    private enum End: Sendable {
        case ended(ControlClient.Answer<RunRecord>)
        case timedOut
        case interrupted
    }

    private func end(
        of pending: PendingRequest,
        _ client: ControlClient,
        _ interrupts: UnixSignalsSequence
    ) async throws -> End {
        let timeout = timeout
        return try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask { .ended(try await client.endedRun(ofRequest: pending.id)) }
            group.addTask {
                for await _ in interrupts { return .interrupted }
                return nil
            }
            if let timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            return .interrupted
        }
    }
}

extension Console {
    /// Prints an accepted request.
    func answer(_ pending: PendingRequest, _ json: String, isJSON: Bool) {
        guard !isJSON else { return answer(json: json) }
        let task = TerminalText.escaped(pending.task)
        answer(
            pending.isKept
                ? "request \(pending.id) of \(task) is pending already and is kept\n"
                : "request \(pending.id) of \(task) accepted\n"
        )
        for reason in pending.waitingFor { remark("waits: \(TerminalText.escaped(reason))") }
    }
}
