// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl

struct Reload: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the daemon's manifest.",
        discussion: """
            All of it or nothing: it is checked and what it adds or changes is loaded for a trial \
            first. One that is refused changes nothing, says why, and ends this with status 78. Runs \
            under way go on as they began. SIGHUP does the same without an answer. With --dry-run, \
            the checks are the same and nothing changes.
            """
    )

    @Flag(help: "Print what a reload would change, or why it would be refused; change nothing.")
    var dryRun = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.reload(dryRun: dryRun)
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(Self.text(answer.value))
        }
    }

    private static func text(_ report: ReloadReport) -> String {
        let summary = (report.dryRun ? "dry run, nothing was changed: " : "") + report.summary
        return ([summary] + report.lines.map { "  " + $0 }).map { TerminalText.escaped($0) + "\n" }
            .joined()
    }
}
