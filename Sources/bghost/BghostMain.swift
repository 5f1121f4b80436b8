// SPDX-License-Identifier: Apache-2.0

internal import BghostCheck
internal import BghostCommand

/// The program.
@main
enum BghostMain {
    static func main() async {
        // Before anything starts threads: such a process is the plugin's.
        CheckProcess.runIfOrdered()
        Program.requireThreads()
        await Program.main(Array(CommandLine.arguments.dropFirst()))
    }
}
