// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension SeparateHosts {
    /// Misbehavior of plugins before their first run and after their last.
    @Suite struct HostileLoadTests {
        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["fork-in-constructor", "threads-in-constructor"],
            [1, 8]
        )
        func `Processes that a constructor starts end with the worker`(
            name: String,
            processes: Int
        ) async {
            await #expect(processExitsWith: .success) { [name, processes] in
                let manifest = try TestManifest.plugin(
                    "bad",
                    library: try Fixture.library(name, flags: ["-pthread"]),
                    limits: WorkerLimits(processes: processes)
                )
                try await withLonelyDaemon(manifest) { daemon in
                    for _ in 0..<2 {
                        #expect(try await daemon.runBesideOthers("task").outcome == .succeeded)
                        #expect(try await daemon.settled().children.isEmpty)
                    }
                    guard name == "fork-in-constructor" else { return }
                    // Its worker may have as many processes as the manifest says, itself among them.
                    try await daemon.line(processes == 1 ? "forked 0" : "forked 4")
                }
                #expect(try Holdings().children.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A constructor that takes too much memory is killed for it`() async {
            await #expect(processExitsWith: .success) {
                let manifest = try TestManifest.plugin(
                    "bad",
                    library: try Fixture.library("allocate-in-constructor"),
                    limits: WorkerLimits(memoryBytes: 64 << 20)
                )
                try await withDaemon(manifest) { daemon in
                    let record = try await daemon.runBesideOthers("task")
                    #expect(record.outcome == .killed(.memory))
                    #expect(record.startedAt == nil)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["crash-in-close", "call-after-close"])
        func `A crash or a call in close() changes no outcome of a run`(name: String) async {
            await #expect(processExitsWith: .success) { [name] in
                let manifest = try TestManifest.plugin(
                    "bad",
                    library: try Fixture.library(name, flags: ["-pthread"])
                )
                try await withLonelyDaemon(manifest) { daemon in
                    for _ in 0..<3 {
                        let record = try await daemon.runBesideOthers("task")
                        #expect(record.outcome == .succeeded)
                        #expect(try await daemon.settled().children.isEmpty)
                    }
                    let plugins = await daemon.host.status().plugins
                    #expect(plugins.allSatisfy { $0.problem == nil })
                }
                #expect(try Holdings().children.isEmpty)
            }
        }
    }
}
