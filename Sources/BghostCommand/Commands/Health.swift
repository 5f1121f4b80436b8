// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Health: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check the daemon's health.",
        discussion: """
            Prints each check with its state, since when it is so, and what to do. Exits as plugins of \
            Nagios do: 0 if all is well, 1 for a warning, 2 if the daemon does not do its work or does \
            not answer.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (report, json) = try await report()
        let console = output.console
        if output.json {
            console.answer(json: json)
        } else {
            console.answer(HealthView(report: report, now: unixNow()).text(console.out))
        }
        guard report.state == .ok else { throw ExitCode(report.state.rank) }
    }

    /// The daemon's report; a daemon that does not answer is a failed check.
    private func report() async throws -> (HealthReport, json: String) {
        do {
            let answer = try await ask { client, _ in try await client.health() }
            return (answer.value, answer.json)
        } catch let fault as ControlFault
            where [.notRunning, .unavailable, .connectionLost].contains(fault.code)
        {
            let report = HealthReport(checks: [
                .init("daemon", .critical, fault.message, remedy: fault.fix)
            ])
            return (report, APICoder.text(Schema.health, report))
        }
    }
}
