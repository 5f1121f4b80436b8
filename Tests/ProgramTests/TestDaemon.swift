// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc

/// The real daemon, with a state directory of its own.
final class TestDaemon {
    let program: RunningProgram
    let state: String

    /// Starts it and waits until it can be spoken to.
    ///
    /// - Parameter prefix: a command that becomes the daemon, such as `nsenter`.
    init(
        manifest: String,
        folder: TemporaryDirectory,
        arguments: [String] = [],
        prefix: [String] = []
    ) throws {
        state = folder.file("state")
        program = try RunningProgram(
            command: prefix + [Artifact.path("bghost"), "--config", manifest, "--state-dir", state]
                + ["--log-format", "text"] + arguments
        )
        guard program.line(containing: "listening on") != nil else {
            throw DaemonFailure(lines: program.lines)
        }
    }

    /// Runs the command line against it.
    func command(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost")] + arguments + ["--state-dir", state])
    }

    /// Has it drain.
    ///
    /// - Returns: its exit code, or minus the signal that ended it.
    func stop() -> Int32 {
        program.signal(SIGTERM)
        return program.end()
    }
}

/// A daemon that did not come up, with what it said.
struct DaemonFailure: Error {
    let lines: [String]
}
