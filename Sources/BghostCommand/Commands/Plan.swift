// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostManifest
internal import BghostSimulation
internal import ArgumentParser
internal import BghostTerminal
internal import BghostViews

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "List the coming starts of a manifest's schedules.",
        discussion: """
            It reads the manifest and needs no daemon: what requests may have to wait for besides \
            their time is not in it. Times are those of each schedule's own zone.
            """
    )

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The manifest.", valueName: "file"),
        completion: .file()
    )
    var config = "tasks.json"

    @Option(
        help: ArgumentHelp("From when on, such as 2026-11-21T16:30:00Z or +2h.", valueName: "time"),
        transform: Submit.time(from:)
    )
    var from: Int64?

    @Option(
        help: ArgumentHelp("Up to when; the default is a week later.", valueName: "time"),
        transform: Submit.time(from:)
    )
    var to: Int64?

    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 50

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 100000")
        }
    }

    func run() async throws {
        let console = output.console
        let reading = ManifestFiles.read(config, unresolvedSecrets: .warning)
        let manifest = try reading.require(console)
        let begin = from ?? unixNow()
        let week: Int64 = 7 * 86_400_000_000_000
        let end = to ?? begin.addingReportingOverflow(week).partialValue
        let plan = SchedulePlan(
            manifest,
            from: begin,
            through: end,
            machine: MachineID.read() ?? "",
            countMax: limit
        )
        if output.json {
            console.answer(
                json: APICoder.text(Schema.plan, API.Plan(plan, from: begin, through: end))
            )
        } else {
            console.answer(PlanView(plan: plan).text(console.out))
        }
    }
}
