// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import ArgumentParser

struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a completion script.",
        discussion: """
            For bash: bghost completion bash > ~/.local/share/bash-completion/completions/bghost

            The script asks the running daemon for the names of tasks, plugins and runs: the one that the \
            command line names, otherwise the usual one.
            """,
        aliases: ["completions"]
    )

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"))
    var shell: Shell

    @OptionGroup var look: LookOptions

    func run() throws {
        let target: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        look.console.answer(Root.completionScript(for: target) + "\n")
    }
}
