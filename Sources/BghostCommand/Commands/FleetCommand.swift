// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostAPI
internal import BghostBase
internal import BghostCommandLine
internal import BghostControl
internal import BghostModel
internal import BghostTerminal
internal import BghostViews

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Show the hosts of the fleet, drain one, or check for what is wrong.",
        discussion: """
            The daemon at hand asks the database of its `host.fleet`, so any host of the fleet answers \
            for all of them.
            """,
        subcommands: [Hosts.self, Drain.self, Undrain.self, Doctor.self],
        defaultSubcommand: Hosts.self
    )

    struct Hosts: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "hosts",
            abstract: "List the hosts with their leases, starts, clocks and versions.",
            discussion: """
                A host is `live`; `draining` or `drained` after `bghost fleet drain`; `left` after its \
                daemon stopped in order; or `gone` if its lease ended otherwise. CLOCK is how much its \
                clock is ahead of that of the database. Exits 5 if the database does not answer.
                """
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let isAnswered = try await ask { client, console in
                let answer = try await client.fleet()
                if output.json {
                    console.answer(json: answer.json)
                } else {
                    let view = FleetView(status: answer.value, now: unixNow())
                    console.answer(view.text(console.out))
                }
                return answer.value.name.isEmpty || !answer.value.hosts.isEmpty
            }
            guard isAnswered else { throw ExitCode(ExitStatus.needsAttention.rawValue) }
        }
    }

    struct Drain: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "drain",
            abstract: "Drain a host: it claims no further start of the fleet.",
            discussion: """
                The other hosts serve the starts from then on. What the host has begun it ends, with its \
                retries; all its other tasks go on. It stays drained across restarts, until `bghost \
                fleet undrain`. With --wait, the command ends when the host has no start any more, or no \
                lease: then its daemon can be stopped without a start that begins anew elsewhere.
                """
        )

        @Argument(
            help: ArgumentHelp("The host, as `bghost fleet hosts` names it.", valueName: "host")
        )
        var host: String

        @Flag(help: "Wait until the host has no start and no partition of the fleet any more.")
        var wait = false

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        /// The pause between two questions, each of which asks the database.
        private static let pause = Duration.milliseconds(500)

        func run() async throws {
            let answer = try await ask { client, _ in
                try await client.setDrained(true, host: host)
            }
            var drain = answer.value
            while wait, ![.drained, .left, .gone].contains(drain.host.state) {
                try await Task.sleep(for: Self.pause)
                let status = try await ask { client, _ in try await client.fleet().value }
                // While the database does not answer there is no news of the host.
                guard status.problem.isEmpty else { continue }
                guard let host = status.hosts.first(where: { $0.name == host }) else { break }
                guard host.drainedAt != nil else {
                    throw CommandFailure(
                        .failure,
                        "\(TerminalText.escaped(host.name)) was undrained meanwhile",
                        fix: "drain it again with `bghost fleet drain`"
                    )
                }
                drain.host = host
            }
            let console = output.console
            guard !output.json else {
                let json = APICoder.text(Schema.fleetDrain, API.FleetDrainAnswer(drain))
                return console.answer(json: json)
            }
            console.answer(Self.text(drain))
        }

        private static func ending(_ host: FleetHost) -> String {
            switch (host.claims, host.partitions) {
            case (0, 0): "it stops claiming starts with its next renewal"
            case (0, let count):
                "it ends its runs of \(CountText.of(count, "partition")) and gives them back"
            case (let count, _): "it ends \(CountText.of(count, "start")) and claims no more"
            }
        }

        private static func text(_ drain: FleetDrain) -> String {
            let name = TerminalText.escaped(drain.host.name)
            let verb = drain.isChanged ? "drained" : "was drained already:"
            let rest =
                switch drain.host.state {
                case .drained: "it has no start and no partition of the fleet"
                case .left, .gone: "it has no lease"
                case .live, .draining: ending(drain.host)
                }
            return drain.isChanged ? "\(verb) \(name); \(rest)\n" : "\(name) \(verb) \(rest)\n"
        }
    }

    struct Undrain: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "undrain",
            abstract: "Resume a drained host: it claims starts of the fleet again."
        )

        @Argument(
            help: ArgumentHelp("The host, as `bghost fleet hosts` names it.", valueName: "host")
        )
        var host: String

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await ask { client, console in
                let answer = try await client.setDrained(false, host: host)
                guard !output.json else { return console.answer(json: answer.json) }
                let name = TerminalText.escaped(answer.value.host.name)
                console.answer(
                    answer.value.isChanged
                        ? "\(name) claims starts of the fleet again, from its next renewal on\n"
                        : "\(name) is not drained\n"
                )
            }
        }
    }

    struct Doctor: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the fleet for what is wrong, and say what to do.",
            discussion: """
                Problems are: a database that does not answer, a host that has died or does not renew its \
                lease, clocks that are wrong by more than 1 s, hosts with other tasks or times, and a \
                fleet in which no host serves starts. Several versions of bghost, drained hosts and a \
                fleet without a spare are named, too. It changes nothing. Exits 5 if there is a problem.
                """
        )

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let isHealthy = try await ask { client, console in
                let answer = try await client.fleet()
                if output.json {
                    console.answer(json: answer.json)
                } else {
                    console.answer(FleetDoctorView(status: answer.value).text(console.out))
                }
                return !answer.value.findings.contains(where: \.isProblem)
            }
            guard isHealthy else { throw ExitCode(ExitStatus.needsAttention.rawValue) }
        }
    }
}
