// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostLinux
internal import ArgumentParser
internal import BghostTerminal
internal import Glibc

/// The program `bghost`: runs a command line, and returns its exit status.
package enum Program {
    /// Runs a command line and exits with its status.
    ///
    /// - Parameter arguments: without the name of the program.
    package static func main(_ arguments: [String]) async -> Never {
        exit(await run(arguments))
    }

    /// The threads that a daemon has when its socket is ready, with a reserve.
    private static let threadsNeeded = 16

    /// Exits with a message if the process cannot start enough threads.
    ///
    /// Without this check, the program would then wait forever or crash. Call it before anything waits for
    /// another thread. It takes about half a millisecond.
    package static func requireThreads() {
        let error = ThreadSupply.shortage(of: threadsNeeded)
        guard error != 0 else { return }
        let arguments = Array(CommandLine.arguments.dropFirst())
        Console(ColorChoice(in: arguments)).complain(
            CommandFailure(
                .tryLater,
                "bghost needs \(threadsNeeded) threads, and cannot start as many:"
                    + " \(String(cString: strerror(error)))",
                fix: "raise the limit of processes of its user or unit (`ulimit -u`, TasksMax=)"
            ),
            asJSON: isJSONWanted(arguments)
        )
        exit(ExitStatus.tryLater.rawValue)
    }

    /// With this word, the scripts of `bghost completion` ask for names.
    private static let completionWord = "---completion"

    /// Runs a command line and returns its exit status.
    static func run(_ arguments: [String]) async -> Int32 {
        let console = Console(ColorChoice(in: arguments))
        do {
            if let code = codeToExplain(arguments) {
                return try explain(code, console)
            }
            try CommandWord.check(arguments)
            var command: any ParsableCommand
            if arguments.first == completionWord {
                // The names of tasks come from a daemon.
                command = try await Root.asyncParseAsRoot(arguments)
            } else if let known = await daemon(arguments) {
                command = known
            } else if let known = await named(arguments) {
                command = known
            } else {
                command = try Root.parseAsRoot(arguments)
            }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch {
            return report(error, console, asJSON: isJSONWanted(arguments))
        }
    }

    /// Parses the command of the daemon without the tree of all commands: building the tree takes longer than
    /// the rest of the daemon's start.
    ///
    /// - Returns: `nil` if the command line may be another command, or has an error, which the whole tree
    ///   reports better.
    static func daemon(_ arguments: [String]) async -> (any ParsableCommand)? {
        let words = arguments.first == "run" ? arguments.dropFirst() : arguments[...]
        // A first word without a hyphen is another command. Options that `run` does not have, such as
        // `--help` and `--version`, make the parsing fail.
        guard words.first.map({ $0.hasPrefix("-") }) ?? true else { return nil }
        return await Run.known(Array(words))
    }

    /// Parses the command that the first words name without the tree of all commands, for the same reason.
    ///
    /// - Returns: `nil` if the command line names no command, wants help or has an error, all of which the
    ///   whole tree answers better.
    static func named(_ arguments: [String]) async -> (any ParsableCommand)? {
        guard let (command, options) = CommandWord.named(arguments) else { return nil }
        return await command.known(options)
    }

    /// Whether the command line, which may be invalid, contains `--json`.
    private static func isJSONWanted(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    private static func report(_ error: any Error, _ console: Console, asJSON: Bool) -> Int32 {
        switch error {
        case let failure as CommandFailure:
            console.complain(failure, asJSON: asJSON)
            return failure.status.rawValue
        case let fault as ControlFault:
            return report(CommandFailure(fault), console, asJSON: asJSON)
        case let code as ExitCode:
            return code.rawValue
        default:
            // The parser throws errors, and also the help text, with exit status 0.
            let code = Root.exitCode(for: error)
            let text = Root.fullMessage(for: error)
            if code == .success {
                console.answer(text + "\n")
            } else if code == .validationFailure {
                console.remark(escaped(text))
                if asJSON { console.answer(json: usageFailure(error, text).json) }
            } else {
                let failure = CommandFailure(
                    .internalError,
                    TerminalText.escaped("\(error)"),
                    fix: "report it: this is a bug in bghost"
                )
                return report(failure, console, asJSON: asJSON)
            }
            return code.rawValue
        }
    }

    /// The lines of a message of the parser, which quotes arguments as they were given.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { TerminalText.escaped(String($0)) }.joined(separator: "\n")
    }

    /// The error for an invalid command line; the text form prints the usage below it.
    private static func usageFailure(_ error: any Error, _ text: String) -> CommandFailure {
        let usage = text.split(separator: "\n").dropFirst().joined(separator: "\n")
        return CommandFailure(
            .usage,
            TerminalText.escaped(Root.message(for: error)),
            fix: usage
        )
    }

    // MARK: - help CODE

    // The `help` command of the parser explains only commands and cannot be replaced.
    private static func codeToExplain(_ arguments: [String]) -> String? {
        guard arguments.count >= 2, arguments[0] == "help", ErrorCatalog.isCode(arguments[1]) else {
            return nil
        }
        return arguments[1].uppercased()
    }

    private static func explain(_ code: String, _ console: Console) throws -> Int32 {
        guard let explanation = ErrorCatalog.explanation(of: code) else {
            throw CommandFailure(.notFound, "there is no error code \(code)")
        }
        console.answer("\(code): \(explanation)\n")
        return ExitStatus.success.rawValue
    }
}

extension Console {
    /// Prints the error of a command: to stderr as text, and with `--json` to stdout as an object.
    func complain(_ failure: CommandFailure, asJSON: Bool = false) {
        remark(LocalTime.text(String(failure.text(error).dropLast())))
        if asJSON { answer(json: failure.json) }
    }
}
