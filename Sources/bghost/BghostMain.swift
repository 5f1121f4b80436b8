// SPDX-License-Identifier: Apache-2.0

internal import BghostCheck
internal import BghostCommand
internal import CBghostCommands

/// The program.
@main
enum BghostMain {
    static func main() async {
        // Before anything starts threads: such a process is the plugin's.
        CheckProcess.runIfOrdered()
        // The tests check the declarations of all commands.
        bgs_trust_commands()
        Program.requireThreads()
        await Program.main(Array(CommandLine.arguments.dropFirst()))
    }
}
