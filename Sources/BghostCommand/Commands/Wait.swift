// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostTerminal

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for the daemon.",
        subcommands: [Ready.self]
    )

    struct Ready: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "ready",
            abstract: "Wait until the daemon answers and accepts work.",
            discussion: """
                Exits 0 as soon as it does, and 3 if it does not within the time. For scripts that \
                start the daemon themselves; a unit of systemd with Type=notify needs it not.
                """
        )

        @Option(help: ArgumentHelp("How long to wait.", valueName: "time"))
        var timeout = "30s"

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        /// The pause between two questions.
        private static let pause = Duration.milliseconds(100)
        /// How long a question is waited for at least, so that the last one has an answer.
        private static let answerTime = Duration.seconds(1)

        func validate() throws {
            guard HumanText.duration(from: timeout) != nil else {
                throw ValidationError("--timeout must be a duration such as 30s or 2m")
            }
        }

        func run() async throws {
            let clock = ContinuousClock()
            let end = clock.now + (HumanText.duration(from: timeout) ?? .zero)
            var reason = ""
            repeat {
                do {
                    let rest = min(max(end - clock.now, Self.answerTime), .seconds(5))
                    let answer = try await ask { client, _ in
                        try await client.readiness(within: rest)
                    }
                    if answer.value.ready {
                        guard output.json else { return output.console.answer("ready\n") }
                        return output.console.answer(json: answer.json)
                    }
                    reason = answer.value.sentence
                } catch let fault as ControlFault where Self.mayPass(fault) {
                    reason = fault.message
                }
                try await clock.sleep(for: Self.pause)
            } while clock.now < end
            throw CommandFailure(
                .notRunning,
                "the daemon was not ready within \(timeout): \(TerminalText.escaped(reason))",
                fix: "bghost health says more, or the daemon's log"
            )
        }

        /// Whether a daemon that starts, stops or is busy may be the reason.
        private static func mayPass(_ fault: ControlFault) -> Bool {
            [.notRunning, .unavailable, .connectionLost, .stopping].contains(fault.code)
        }
    }
}
