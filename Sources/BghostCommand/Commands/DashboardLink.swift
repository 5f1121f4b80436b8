// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostModel

struct DashboardLink: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Print a link to the daemon's pages for a browser.",
        discussion: """
            The link works once, within a minute, and begins a session with what you may do at the \
            control socket. The pages are served where `host.dashboard` of the manifest says, on this \
            machine only. From another one, forward the port first: \
            ssh -L 8645:127.0.0.1:8645 HOST bghost dashboard
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.dashboardTicket()
            guard !output.json else { return console.answer(json: answer.json) }
            // The last line, so that scripts find it.
            console.answer(
                """
                Open this link within a minute. It works once, and may \
                \(answer.value.role == .operate ? "look and change" : "only look").
                \(TerminalText.escaped(answer.value.url))

                """
            )
        }
    }
}
