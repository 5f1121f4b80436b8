// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import ArgumentParser
internal import BghostControl
internal import BghostTerminal

struct Backup: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the daemon's store while it runs.",
        discussion: """
            The daemon writes the file, as its own user, and refuses one that exists. A daemon \
            starts from the copy once it lies in a state directory as bghost.sqlite.
            """
    )

    @Argument(
        help: ArgumentHelp("The file to write.", valueName: "file"),
        completion: .file()
    )
    var file: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        // The daemon has another working directory.
        let path = ControlLocation.normalized(file)
        try await ask { client, console in
            let answer = try await client.backUp(to: path)
            guard !output.json else { return console.answer(json: answer.json) }
            let name = TerminalText.escaped(path)
            console.answer("wrote \(HumanText.bytes(answer.value)) to \(name)\n")
        }
    }
}
