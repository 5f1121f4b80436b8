// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal

struct Backup: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the daemon's state while it runs.",
        discussion: """
            The daemon writes a new folder, as its own user: the store with all requests and the \
            history, the journal of transfers, and with --data the data directories of the plugins. \
            'bghost restore' puts it into a state directory.
            """
    )

    @Argument(
        help: ArgumentHelp("The folder to make.", valueName: "folder"),
        completion: .directory
    )
    var folder: String

    @Flag(help: "Copy the data directories of the plugins, too.")
    var data = false

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        // The daemon has another working directory.
        let path = ControlLocation.normalized(folder)
        let includesData = data
        try await ask { client, console in
            let answer = try await client.backUp(to: path, includesData: includesData)
            guard !output.json else { return console.answer(json: answer.json) }
            let name = TerminalText.escaped(path)
            console.answer("wrote \(HumanText.bytes(answer.value.bytes)) to \(name)\n")
            if answer.value.omitted > 0 {
                console.remark(
                    "\(answer.value.omitted) files of plugins cannot be copied, such as sockets"
                )
            }
        }
    }
}
