// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostControl
internal import BghostCore
internal import BghostRecords

struct Status: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the daemon and its tasks: what runs, what waits, and why.",
        discussion: "Exits 3 if no daemon answers, 4 if it has no task of a name."
    )

    @Argument(help: ArgumentHelp("Only these tasks.", valueName: "id"))
    var tasks: [String] = []

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ask { client, console in
            let answer = try await client.status()
            var status = answer.value
            for task in tasks { try Self.check(task, in: status) }
            if !tasks.isEmpty { status.tasks.removeAll { !tasks.contains($0.identifier) } }
            if output.json {
                console.answer(json: tasks.isEmpty ? answer.json : try selected(answer.json))
            } else {
                console.answer(StatusView(status: status, now: unixNow()).text(console.out))
            }
        }
    }

    /// Fails if the daemon has no such task.
    static func check(_ task: String, in status: HostStatus) throws {
        let names = status.tasks.map(\.identifier)
        guard !names.contains(task) else { return }
        let nearest = Spelling.nearest(to: task, among: names)
        throw CommandFailure(
            ControlFault(
                .noSuchTask,
                "there is no task `\(task)`",
                fix: nearest.map { "did you mean \($0)?" } ?? "bghost status lists them"
            )
        )
    }

    /// The daemon's own JSON with only the tasks that were asked for.
    private func selected(_ json: String) throws -> String {
        guard case .object(var members) = try JSONReader.parse(json).value else { return json }
        for index in members.indices where members[index].key == "tasks" {
            let kept = members[index].value.array?.filter { node in
                node["id"]?.string.map(tasks.contains) ?? false
            }
            members[index].value = JSONNode(.array(kept ?? []))
        }
        return JSONNode(.object(members)).text
    }
}
