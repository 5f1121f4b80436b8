// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
@testable import BghostCommand
import CBghostCommands
import Glibc
import Testing

/// The declarations of commands, which the parser checks in debug builds and the program does not.
@Suite(.timeLimit(.minutes(5)))
struct CommandDeclarationTests {
    /// A command that the parser refuses: two of its options have one name.
    private struct TwoOptionsOfOneName: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "twice")
        @Option(name: .customLong("name")) var first = ""
        @Option(name: .customLong("name")) var second = ""
    }

    private static func commands(
        below command: any ParsableCommand.Type
    ) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(below: $0) }
    }

    // A wrong declaration ends the process that parses it.
    @Test func `The parser accepts the declaration of every command`() {
        let commands = Self.commands(below: Root.self)
        #expect(commands.count > 40)
        for command in commands {
            #expect(command.helpMessage().contains("USAGE"), "\(command)")
        }
    }

    @Test func `The tests check the declarations of commands`() async {
        await #expect(processExitsWith: .exitCode(EXIT_FAILURE)) {
            // The process has ended before the status, which would be another one.
            exit(TwoOptionsOfOneName.helpMessage().isEmpty ? 3 : 2)
        }
    }

    @Test func `The program does not check the declarations of commands`() async {
        await #expect(processExitsWith: .success) {
            bgs_trust_commands()
            exit(TwoOptionsOfOneName.helpMessage().isEmpty ? 3 : EXIT_SUCCESS)
        }
    }
}
