// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import StormyStation

/// `stormy-station play`.
struct Play: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stage the sample app: this station and the real daemon, to the end.",
        discussion: """
            Starts the station, then the daemon with the given manifest and a state directory of its \
            own; waits until the expected runs have ended; stops the daemon; and compares what both \
            sides say. The table and the verdict go to standard output, the daemon's log to standard \
            error.

            Exit status: 0 both sides agree, 1 they do not or the play failed, 66 an input is \
            missing, 73 the port is taken.
            """
    )

    @Option(help: ArgumentHelp("The bghost program.", valueName: "path"))
    var bghost: String

    @Option(help: ArgumentHelp("The daemon's manifest.", valueName: "file"))
    var config: String

    @Option(
        help: ArgumentHelp(
            "The folder whose photos are uploaded (default: spool beside the manifest).",
            valueName: "folder"
        )
    )
    var spool: String?

    @Option(help: ArgumentHelp("Where the manifest expects the station.", valueName: "n"))
    var port = StationServer.defaultPort

    @Flag(help: "Leave the daemon's state directory and say where it is.")
    var keep = false

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535, not \(port)")
        }
    }

    func run() async throws {
        let folder = config.lastIndex(of: "/").map { String(config[...$0]) } ?? ""
        var setting = Player.Setting(
            bghost: bghost,
            config: config,
            spool: spool ?? "\(folder)spool"
        )
        setting.port = port
        setting.keepsState = keep
        let output = Player.Output(
            answer: { print($0) },
            answerStyle: style(of: STDOUT_FILENO),
            comment: StandardError.write,
            commentStyle: style(of: STDERR_FILENO)
        )
        let status = await Player(setting: setting, output: output).play()
        guard status == 0 else { throw ExitCode(status) }
    }

    private func style(of descriptor: Int32) -> TerminalStyle {
        TerminalStyle(isTerminal: isatty(descriptor) == 1) { name in
            getenv(name).map { String(cString: $0) }
        }
    }
}
