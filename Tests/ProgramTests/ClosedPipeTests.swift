// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Commands whose reader has gone.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ClosedPipeTests {
    /// Runs a command after the reader of its stdout has ended, and returns what the shell says of its end.
    private func end(_ prefix: String) throws -> String {
        let script = """
            exec 3> >(true); wait $!
            \(prefix) "$0" help BG1021 >&3; echo $?
            """
        return try Command.run(["bash", "-c", script, Artifact.path("bghost")]).output
    }

    @Test func `A command ends by SIGPIPE, as its reader expects`() throws {
        #expect(try end("") == "\(128 + SIGPIPE)\n")
    }

    // The kernel drops a signal that process 1 of a container sends itself and does not handle.
    @Test(.enabled(if: geteuid() == 0, "only root can be process 1 without a user namespace"))
    func `A command that is process 1 ends, too`() throws {
        let container = "timeout --signal=KILL 240 unshare --pid --fork --kill-child"
        #expect(try end(container) == "\(128 + SIGPIPE)\n")
    }
}
