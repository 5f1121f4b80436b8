// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate launches, expiries, facts of the machine and its clock.",
        discussion: """
            What is simulated ends with the daemon at the latest, and `bghost status` says so until \
            then. Simulated runs and expiries earn no throttle points.
            """,
        subcommands: [Launch.self, SimulatedExpiry.self, SetFact.self, SetClock.self]
    )

    struct Launch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "launch",
            abstract: "Run a task now, as `bghost trigger` does.",
            discussion: "What Apple's debugger does with _simulateLaunchForTaskWithIdentifier."
        )

        @OptionGroup var trigger: Trigger

        func run() async throws { try await trigger.run() }
    }

    struct SimulatedExpiry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire",
            abstract: "Expire a run, as `bghost expire` does.",
            discussion: "What Apple's debugger does with _simulateExpirationForTaskWithIdentifier."
        )

        @OptionGroup var expire: Expire

        func run() async throws { try await expire.run() }
    }

    struct SetFact: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "fact",
            abstract: "Set a requirement to met or unmet, whatever the machine reports.",
            discussion: """
                Such as network=off, power=battery, idle=on or storage=unknown; network=real ends \
                it. Runs that lose what they require stop as they would.
                """
        )

        @Argument(help: ArgumentHelp("The requirement and its value.", valueName: "name=value"))
        var fact: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.simulate(fact: fact)
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(SimulationView(answer.value).text(console.out))
            }
        }
    }

    struct SetClock: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "clock",
            abstract: "Move the daemon's wall clock, for dates and schedules alone.",
            discussion: """
                By a step such as +6h or -30m, to a time such as 2026-12-24T12:00:00Z, or back to \
                the machine's with real. Limits of runs do not go by it. What is stored meanwhile \
                keeps the dates of that clock.
                """
        )

        // A negative step starts with a hyphen, like an option.
        @Argument(
            parsing: .allUnrecognized,
            help: ArgumentHelp("A step, a time, or real.", valueName: "step|time|real")
        )
        var times: [String]

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard times.count == 1 else {
                throw ValidationError("give one step such as +6h, one time, or real")
            }
            do throws(SimulatedClock.Failure) {
                _ = try SimulatedClock(times[0])
            } catch {
                throw ValidationError(error.description)
            }
        }

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.simulate(clock: times[0])
                guard !output.json else { return console.answer(json: answer.json) }
                console.answer(SimulationView(answer.value).text(console.out))
            }
        }
    }
}
