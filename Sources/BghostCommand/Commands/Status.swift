// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal
internal import BghostViews

struct Status: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the daemon and its tasks: what runs, what waits, and why.",
        discussion: """
            Problems come first: quarantined and unusable plugins, dead letters, and tasks whose last \
            run did not succeed. Exits 5 if there is one, 3 if no daemon answers, 4 if there is no \
            task of a name.

            --failing shows only problems and the tasks that have one; it too exits 5 if there is one, \
            and 0 if not. --watch draws the status again every 2 s until Ctrl-C.
            """
    )

    @Argument(
        help: ArgumentHelp("Show only these tasks.", valueName: "id"),
        completion: .taskNames
    )
    var tasks: [String] = []

    @Option(
        help: ArgumentHelp("Show only tasks with this tag.", valueName: "name"),
        completion: .tagNames
    )
    var tag: String?

    @Flag(help: "Show only what fails: problems, and the tasks that have one.")
    var failing = false

    @Flag(name: .shortAndLong, help: "Show it on the terminal until Ctrl-C, again every 2 s.")
    var watch = false

    @Flag(help: "Show the hosts of the fleet instead, and exit 5 if this one has no valid lease.")
    var fleet = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !watch || !output.json else {
            throw ValidationError("--watch draws on a terminal, so it has no --json")
        }
        guard !fleet || tasks.isEmpty && !failing && !watch && tag == nil else {
            throw ValidationError(
                "--fleet shows hosts, so it has no tasks, --tag, --failing or --watch"
            )
        }
        guard tag == nil || tasks.isEmpty else {
            throw ValidationError("give tasks or --tag, not both")
        }
        guard tasks.count <= ControlLimits.namesMax else {
            throw ValidationError("name at most \(ControlLimits.namesMax) tasks")
        }
    }

    func run() async throws {
        if watch { return try await StatusWatch(console: output.console).run(frame) }
        if fleet { return try await showFleet() }
        let isHealthy = try await ask { client, console in
            let answer = try await client.status(of: tasks)
            let status = try select(answer.value)
            if output.json {
                console.answer(
                    json: tasks.isEmpty && tag == nil && !failing
                        ? answer.json : try selected(answer.json, status)
                )
            } else {
                console.answer(text(status, console.out))
            }
            return status.problems.isEmpty
        }
        guard isHealthy else { throw ExitCode(ExitStatus.needsAttention.rawValue) }
    }

    private func showFleet() async throws {
        let isHealthy = try await ask { client, console in
            let answer = try await client.fleet()
            if output.json {
                console.answer(json: answer.json)
            } else {
                let view = FleetView(status: answer.value, now: unixNow())
                console.answer(view.text(console.out))
            }
            return !answer.value.needsAttention
        }
        guard isHealthy else { throw ExitCode(ExitStatus.needsAttention.rawValue) }
    }

    private func text(_ status: HostStatus, _ style: Style) -> String {
        StatusView(status: status, now: unixNow(), isFailing: failing).text(style)
    }

    /// What `--watch` shows now.
    private func frame(_ style: Style) async throws -> String {
        try await ask { client, _ in
            text(try select(try await client.status(of: tasks).value), style)
        }
    }

    /// The part of a status that was asked for: the daemon's answer still has the problems and plugins of
    /// other tasks.
    private func select(_ status: HostStatus) throws -> HostStatus {
        guard let tag else { return tasks.isEmpty ? status : status.selecting(Set(tasks)) }
        let tagged = status.tasks.filter { $0.tags.contains(tag) }.map(\.identifier)
        guard !tagged.isEmpty else {
            let all = Set(status.tasks.flatMap(\.tags))
            throw ControlFault(OperatorRefusal.noSuchTag(tag, among: all))
        }
        return status.selecting(Set(tagged))
    }

    /// The daemon's JSON, reduced to the selected tasks and their problems.
    private func selected(_ json: String, _ status: HostStatus) throws -> String {
        let shown = Set((failing ? status.failingTasks : status.tasks).map(\.identifier))
        guard case .object(var members) = try APICoder.parsed(Array(json.utf8)).value else {
            return json
        }
        for index in members.indices {
            switch members[index].key {
            case "tasks":
                let kept = members[index].value.array?.filter { node in
                    node["id"]?.string.map(shown.contains) ?? false
                }
                members[index].value = JSONNode(.array(kept ?? []))
            case "problems":
                members[index].value = try APICoder.parsed(APICoder.json(status.problems))
            case "pauses":
                members[index].value = try APICoder.parsed(
                    APICoder.json(status.pauses.map(API.Pause.init))
                )
            case "deadLetters":
                members[index].value = try JSONReader.parse("\(status.deadLetters)")
            default: break
            }
        }
        return JSONNode(.object(members)).text
    }
}
