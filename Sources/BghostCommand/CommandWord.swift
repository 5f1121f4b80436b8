// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostCore
internal import BghostRecords

/// Looks at the words that name a command before the options are read.
///
/// The parser hands any first word that it does not know to the default command, which then
/// complains of an unexpected argument; a slip of the finger deserves the name that was meant.
enum CommandWord {
    /// Fails if the command line begins with a word that is no command.
    static func check(_ arguments: [String]) throws(CommandFailure) {
        var commands = Root.configuration.subcommands
        var parents = "bghost"
        for word in arguments {
            guard !word.hasPrefix("-"), !commands.isEmpty else { return }
            if let command = commands.first(where: { names(of: $0).contains(word) }) {
                commands = command.configuration.subcommands
                parents += " \(word)"
                // Its default command takes what is no command.
                if command.configuration.defaultSubcommand != nil { return }
                continue
            }
            // The parser's own.
            if word == "help" { return }
            let known = commands.flatMap(names) + ["help"]
            let nearest = Spelling.nearest(to: word, among: known)
            throw CommandFailure(
                .usage,
                "`\(TerminalText.escaped(String(word.prefix(80))))` is no command of \(parents)",
                fix: nearest.map { "did you mean `\(parents) \($0)`?" }
                    ?? "\(parents) --help lists them"
            )
        }
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        let configuration = command.configuration
        return [configuration.commandName ?? "\(command)".lowercased()] + configuration.aliases
    }
}
