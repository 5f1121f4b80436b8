// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostControl
package import BghostTerminal
internal import Glibc

/// The output streams of the program: stdout for the answer, stderr for everything else.
package struct Console: Sendable {
    package let out: Style
    package let error: Style

    package init(_ choice: ColorChoice) {
        let environment = ControlLocation.variable(of:)
        var out = Style(choice: choice, isTerminal: isatty(1) == 1, environment: environment)
        out.width = TerminalSize.of(1)?.columns
        self.out = out
        error = Style(choice: choice, isTerminal: isatty(2) == 1, environment: environment)
    }

    /// Writes a part of the answer, with its times in the zone of the host.
    package func answer(_ text: String) { Self.write(LocalTime.text(text), to: 1) }

    /// Writes a part of the answer that others wrote, such as the output of a handler, as it is.
    package func answer(verbatim text: String) { Self.write(text, to: 1) }

    /// Writes the JSON object of `--json`, or one line of a stream of objects.
    package func answer(json: String) { Self.write(TerminalText.escapedJSON(json) + "\n", to: 1) }

    /// Writes control sequences and a frame to the terminal at stdout.
    package func control(_ text: String) { Self.write(text, to: 1) }

    /// Writes to stderr without a line break.
    package func prompt(_ text: String) { Self.write(text, to: 2) }

    /// Writes a line to stderr.
    package func remark(_ text: String) { Self.write(text + "\n", to: 2) }

    private static func write(_ text: String, to fd: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE, fd == 1 {
                // NIO ignores the signal for the whole process. The reader, such as `head`, has closed the
                // pipe and expects that the program ends by SIGPIPE.
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
                // The first process of a container is not ended by it.
                _exit(ExitStatus.signal(SIGPIPE))
            } else if errno != EINTR {
                // An incomplete answer must not look complete.
                guard fd == 1 else { return }
                write(
                    "error: cannot write the answer: \(String(cString: strerror(errno)))\n",
                    to: 2
                )
                exit(ExitStatus.failure.rawValue)
            }
        }
    }
}
