// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

// What a client of the shipped daemon waits for.
extension Subject {
    /// One call after the other over the control socket: `submit` is answered once it is durable,
    /// `version` keeps nothing.
    func socketSubmit() throws {
        let state = files + "/store/socket-state"
        mkdir(files + "/store", 0o755)
        try remove(state)
        let program = programs + "/bghost"
        let child = try start(
            program,
            [
                program, "--config", files + "/tasks.json", "--state-dir", state,
                "--log-format", "text", "--log-level", "error",
            ]
        )
        defer { end(child) }
        let socket = state + "/control.sock"
        let deadline = Monotonic.now + 20_000_000_000
        while !UnixClient.canConnect(socket) {
            guard Monotonic.now < deadline else {
                throw BenchFailure(description: "the daemon does not listen on \(socket)")
            }
            usleep(1000)
        }
        let client = try UnixClient(socket)
        let note = String(repeating: "p", count: 189)
        let body =
            #"{"task":"org.bghost.bench.nop","earliestBegin":"2100-01-01T00:00:00Z","#
            + #""parameters":{"note":"\#(note)"}}"#
        var samples = Samples(reserving: count)
        for round in -(count / 10)..<count {
            let before = Monotonic.now
            if words.contains("version") {
                try client.call("GET", "/v1/version")
            } else {
                try client.call("POST", "/v1/submit", body: body)
            }
            if round >= 0 { samples.add(Monotonic.now.since(before)) }
        }
        samples.report()
    }
}
