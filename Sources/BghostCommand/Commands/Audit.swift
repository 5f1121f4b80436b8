// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostModel
internal import ArgumentParser
internal import BghostControl
internal import BghostViews

struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show who changed what, or check that no row was changed.",
        discussion: """
            The daemon notes each change by an operator, refused attempts, logins and signals, with \
            their user; of what was sent it keeps the hash. The section "audit" of "host" in the \
            manifest says how much is kept, and whether submissions are noted too.
            """,
        subcommands: [Show.self, Verify.self],
        defaultSubcommand: Show.self
    )

    struct Show: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show who changed what, the newest last.",
            discussion: "With --json and --follow each line is an object of its own."
        )

        @Option(help: ArgumentHelp("Only from this time on, such as 2h.", valueName: "time"))
        var since: String?

        @Option(help: ArgumentHelp("Only before this time.", valueName: "time"))
        var until: String?

        @Option(
            help: ArgumentHelp("Only by this user, session or way, such as web.", valueName: "who")
        )
        var actor: String?

        @Option(help: ArgumentHelp("Only this verb, such as trigger.", valueName: "verb"))
        var verb: String?

        @Option(
            help: ArgumentHelp("Only this target; a last * stands for any end.", valueName: "name")
        )
        var target: String?

        @Option(help: ArgumentHelp("At most this many rows.", valueName: "n"))
        var limit = 50

        @Option(help: ArgumentHelp("Only rows before this number.", valueName: "number"))
        var before: Int64?

        @Flag(name: [.short, .long], help: "Go on with each new row until Ctrl-C.")
        var follow = false

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (1...ControlLimits.runsMax).contains(limit) else {
                throw ValidationError("--limit must be from 1 to \(ControlLimits.runsMax)")
            }
            guard before ?? 1 >= 0 else { throw ValidationError("--before is a row's number") }
        }

        func run() async throws {
            try await ask { client, console in
                var query = AuditQuery(limit: limit)
                (query.actor, query.verb, query.target) = (actor, verb, target)
                query.before = before
                let question = AuditQuestion(query, since: since, until: until)
                let answer = try await client.audit(question)
                guard self.follow else {
                    guard !output.json else { return console.answer(json: answer.json) }
                    return console.answer(
                        AuditView(answer.value, now: unixNow()).text(console.out)
                    )
                }
                print(answer.value.rows.reversed(), console)
                var follow = AuditFollow(last: answer.value.newest, question)
                try await follow.run(client) {
                    print($0, console)
                }
            }
        }

        private func print(_ rows: [API.AuditRow], _ console: Console) {
            for row in rows {
                if output.json {
                    console.answer(json: APICoder.text(row))
                } else {
                    console.answer(AuditView.line(row, now: unixNow()) + "\n")
                }
            }
        }
    }

    struct Verify: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check that no row of the audit was changed or removed.",
            discussion: """
                Each row has the hash of the row before it. Rows that were cut off at the end leave no \
                trace there: name the last row that the log has, its event "audit.head", with --head. \
                Exits with 1 at a break.
                """
        )

        @Option(
            help: ArgumentHelp(
                "A row that must be there, as the log has it.",
                valueName: "number:sum"
            )
        )
        var head: String?

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let isIntact = try await ask { client, console in
                let answer = try await client.checkAudit(head: head)
                if output.json {
                    console.answer(json: answer.json)
                } else {
                    console.answer(AuditView.text(answer.value))
                }
                return answer.value.intact
            }
            guard isIntact else { throw ExitCode(ExitStatus.failure.rawValue) }
        }
    }
}
