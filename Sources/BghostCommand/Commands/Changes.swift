// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser
internal import BghostAPI
internal import BghostControl
internal import BghostModel
internal import BghostViews

struct Changes: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show what operators changed, and what reloads and starts took up.",
        discussion: """
            It shows the rows of the audit that are about changes, the newest last; 'bghost audit' \
            has refused attempts and logins, too. A start has a row if its manifest is not the one that \
            the previous daemon had last.
            """
    )

    @Option(help: ArgumentHelp("Only from this time on, such as 2d.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("At most this many changes.", valueName: "n"))
    var limit = 50

    @Option(help: ArgumentHelp("Only rows before this number.", valueName: "number"))
    var before: Int64?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...ControlLimits.runsMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ControlLimits.runsMax)")
        }
    }

    func run() async throws {
        try await ask { client, console in
            var query = AuditQuery(limit: limit)
            (query.onlyChanges, query.before) = (true, before)
            let answer = try await client.audit(AuditQuestion(query, since: since, until: until))
            guard !output.json else { return console.answer(json: answer.json) }
            console.answer(AuditView(answer.value, now: unixNow()).changes(console.out))
        }
    }
}
