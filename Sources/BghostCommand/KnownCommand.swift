// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A command that the first words of a command line name, as the parser parses it.
///
/// Before it parses a command, the parser parses the command line as two commands of its own, for
/// `--generate-completion-script`: a seventh of the processor time of `bghost status`. It does not if the
/// command has a superior. A command line with that option is not parsed here, so that the whole tree of
/// commands answers it.
struct KnownCommand<Command: ParsableCommand>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: Command._commandName, _superCommandName: "bghost")
    }

    @OptionGroup var command: Command

    /// Parses the options of a command.
    ///
    /// - Returns: `nil` if they have an error or ask for help, both of which the whole tree answers better.
    static func parsed(_ options: [String]) async -> Command? {
        // The whole tree reports the error.
        let parsed = try? await Self.asyncParseAsRoot(options)
        // The wish for help gives another command.
        return (parsed as? Self)?.command
    }
}

extension ParsableCommand {
    /// Parses the options of this command, for callers that know it as a value.
    static func known(_ options: [String]) async -> (any ParsableCommand)? {
        await KnownCommand<Self>.parsed(options)
    }
}
