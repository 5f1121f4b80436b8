// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Clients that hang up on the real daemon while it works for them.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct LeavingClientTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func `A client that gives up its wait for a run leaves the daemon as it was`() throws {
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
             "tasks": {"wait": {"plugin": "misbehave", "handler": "wait_for_cancel"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        let client = """
            import socket, sys
            for end in (socket.SHUT_RDWR, socket.SHUT_WR) * 3:
                s = socket.socket(socket.AF_UNIX)
                s.connect(sys.argv[1])
                s.sendall(b"POST /v1/tasks/wait/trigger?wait=true HTTP/1.1\\r\\nHost: localhost\\r\\n"
                          b"Content-Length: 2\\r\\n\\r\\n{}GET /v1/version HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                s.shutdown(end)
                s.close()
            """
        let left = try Command.run(["python3", "-c", client, daemon.state + "/control.sock"])
        #expect(left.exitCode == 0, "\(left)")
        #expect(try daemon.command(["status"]).exitCode == 0)
        #expect(try daemon.command(["stop", "--task", "wait"]).exitCode == 0)
        #expect(daemon.stop() == 0)
    }
}
