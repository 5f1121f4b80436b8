// SPDX-License-Identifier: Apache-2.0

internal import BghostCommand

/// The program.
@main
enum BghostMain {
    static func main() async {
        await Program.main(Array(CommandLine.arguments.dropFirst()))
    }
}
