// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
import BghostHost
import BghostModel
@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Workers that come to the control socket of the daemon that holds them.
    @Suite struct PeerTests {
        /// Without a sandbox, and as root: nothing else stops a worker.
        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["ask_socket", "ask_from_child", "ask_from_orphan"]
        )
        func `A worker is no client of its daemon`(act: String) async {
            await #expect(processExitsWith: .success) { [act] in
                var manifest = try TestManifest.witness()
                manifest.plugins.append(
                    PluginDefinition(
                        name: "escape",
                        library: try Fixture.library("escape"),
                        limits: WorkerLimits(processes: 8)
                    )
                )
                manifest.tasks.append(try TestManifest.task("escape", "escape", "try", nil))
                try await withLonelyDaemon(manifest, adjust: { $0.sandbox = [] }) { daemon in
                    let path = daemon.folder.file("control.sock")
                    try await withServer(daemon.host, path) {
                        // The daemon answers the same question of a process that is no worker.
                        let own = try await ControlClient.with(socketPath: path) {
                            try await $0.status()
                        }
                        #expect(own.value.tasks.contains { $0.identifier == "escape" })
                        let asked = try await daemon.run(
                            "escape",
                            #"{"act":"\#(act)","path":"\#(path)"}"#
                        )
                        #expect(asked.outcome == .succeeded)
                        #expect(asked.message == "ECONNRESET", "\(asked.message)")
                    }
                }
            }
        }
    }
}

private func withServer(
    _ host: Host,
    _ path: String,
    _ body: () async throws -> Void
) async throws {
    let (ready, isReady) = AsyncStream<Void>.makeStream()
    let server = ControlServer(
        host: host,
        socketPath: path,
        access: ControlAccess { host.isOwnProcess($0.pid, user: $0.uid) },
        onReady: { isReady.finish() }
    )
    let serving = Task { try await server.run() }
    for await _ in ready {}
    defer { serving.cancel() }
    try await body()
}
