// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import StormyStation

/// `stormy-station demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run this station and the real daemon with its dashboard, until Ctrl-C.",
        discussion: """
            Starts the station, then the daemon with the given manifest and a state directory of its \
            own. Prints a link to the dashboard, what to look at there, and the commands that show \
            and do the same. SIGINT and SIGTERM drain the daemon; its state directory is removed.

            Exit status: 0 stopped in order, 1 the daemon failed, 66 an input is missing, 73 the port \
            is taken.
            """
    )

    @Option(help: ArgumentHelp("The bghost program.", valueName: "path"))
    var bghost: String

    @Option(help: ArgumentHelp("The daemon's manifest.", valueName: "file"))
    var config: String

    @Option(help: ArgumentHelp("Where the manifest expects the station.", valueName: "n"))
    var port = StationServer.defaultPort

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535, not \(port)")
        }
    }

    func run() async throws {
        var setting = Demo.Setting(bghost: bghost, config: config)
        setting.port = port
        let output = Player.Output(
            answer: { line in
                print(line)
                // A reader that waits for the link may read a pipe, which stdio buffers in blocks.
                fflush(nil)
            },
            answerStyle: style(of: STDOUT_FILENO),
            comment: StandardError.write,
            commentStyle: style(of: STDERR_FILENO)
        )
        let status = await Demo(setting: setting, output: output).run()
        guard status == 0 else { throw ExitCode(status) }
    }

    private func style(of descriptor: Int32) -> TerminalStyle {
        TerminalStyle(isTerminal: isatty(descriptor) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }
}
