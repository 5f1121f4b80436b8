// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import ArgumentParser

/// Checks the command words before the parser reads the options.
///
/// The parser passes an unknown first word to the default command, which then reports an unexpected argument.
/// This check suggests the most similar command instead.
enum CommandWord {
    /// Throws if the command line starts with an unknown command word.
    static func check(_ arguments: [String]) throws(CommandFailure) {
        var commands = Root.configuration.subcommands
        var parents = "bghost"
        for word in arguments {
            guard !word.hasPrefix("-"), !commands.isEmpty else { return }
            if let command = commands.first(where: { names(of: $0).contains(word) }) {
                commands = command.configuration.subcommands
                parents += " \(word)"
                // The default subcommand takes further words as arguments.
                if command.configuration.defaultSubcommand != nil { return }
                continue
            }
            // The parser has a `help` command of its own.
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

    /// The command that the first words of a command line name, and the arguments after them.
    ///
    /// - Returns: `nil` if the words do not name a command that has no subcommands.
    static func named(
        _ arguments: [String]
    ) -> (command: any ParsableCommand.Type, options: [String])? {
        var command: any ParsableCommand.Type = Root.self
        var rest = arguments[...]
        while let word = rest.first, !command.configuration.subcommands.isEmpty {
            let next = command.configuration.subcommands.first { names(of: $0).contains(word) }
            guard let next else { return nil }
            command = next
            rest.removeFirst()
        }
        return command.configuration.subcommands.isEmpty ? (command, Array(rest)) : nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        let configuration = command.configuration
        return [configuration.commandName ?? "\(command)".lowercased()] + configuration.aliases
    }
}
