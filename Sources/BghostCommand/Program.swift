// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostRecords
internal import Glibc

/// The program `bghost`: from its arguments to its exit status.
package enum Program {
    /// Runs a command line and ends the process with the status that the command line has earned.
    ///
    /// - Parameter arguments: without the program's own name.
    package static func main(_ arguments: [String]) async -> Never {
        exit(await run(arguments))
    }

    /// Runs a command line and returns its exit status.
    static func run(_ arguments: [String]) async -> Int32 {
        let console = Console(ColorChoice(in: arguments))
        do {
            if let code = codeToExplain(arguments) {
                return try explain(code, console)
            }
            try CommandWord.check(arguments)
            var command = try daemon(arguments) ?? Root.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch {
            return report(error, console)
        }
    }

    /// The daemon's command, read without the tree of all others: building that takes the parser
    /// longer than the daemon takes for all else until it is ready.
    ///
    /// `nil` for everything that is not plainly that command, and for what the whole tree has to
    /// complain of in its own words.
    private static func daemon(_ arguments: [String]) -> (any ParsableCommand)? {
        let words = arguments.first == "run" ? arguments.dropFirst() : arguments[...]
        // A first word that is no option is another command; options that are not `run`'s, such as
        // `--help` and `--version`, make this fail.
        guard words.first.map({ $0.hasPrefix("-") }) ?? true else { return nil }
        return try? Run.parse(Array(words))
    }

    private static func report(_ error: any Error, _ console: Console) -> Int32 {
        switch error {
        case let failure as CommandFailure:
            console.complain(failure)
            return failure.status.rawValue
        case let fault as ControlFault:
            return report(CommandFailure(fault), console)
        case let code as ExitCode:
            return code.rawValue
        default:
            // What the parser throws: errors, and with status 0 the help that was asked for.
            let code = Root.exitCode(for: error)
            let text = Root.fullMessage(for: error)
            if code == .success {
                console.answer(text + "\n")
            } else if code == .validationFailure {
                console.remark(text)
            } else {
                let failure = CommandFailure(
                    .internalError,
                    TerminalText.escaped("\(error)"),
                    fix: "please report it: this should not have happened"
                )
                return report(failure, console)
            }
            return code.rawValue
        }
    }

    // MARK: - help CODE

    // The parser's own `help` knows commands only, and cannot be replaced.
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
    /// Says on stderr why the command failed.
    package func complain(_ failure: CommandFailure) {
        remark(String(failure.text(error).dropLast()))
    }
}
