// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import Testing

extension Integration {
    /// Requests that handlers make.
    @Suite struct SubmitTests {
        /// The fixture's `submit`, with tasks of its own and of others.
        private func manifest(granting: [String]) throws -> Manifest {
            var manifest = try TestManifest.misbehave()
            let plugin = try #require(manifest.plugins.firstIndex { $0.name == "misbehave" })
            manifest.plugins[plugin].permissions.submit = try granting.map(TestManifest.pattern)
            return manifest
        }

        @Test(.timeLimit(.minutes(1)), arguments: ["echo", "witness.echo"])
        func `A handler may submit its plugin's own tasks and those that it is granted`(
            task: String
        ) async throws {
            try await withDaemon(try manifest(granting: ["witness.*"])) { daemon in
                let record = try await daemon.run("submit", #"{"task":"\#(task)"}"#)
                #expect(record.outcome == .succeeded)
                try await daemon.line("submit answered 0", LogFilter(run: record.id))
                let entry = try await daemon.line(LogFilter(task: task)) { $0.event == "run.ended" }
                let submitted = await daemon.host.runs(
                    idPrefix: try #require(entry.run).description,
                    limit: 1
                )
                #expect(submitted.first?.result == #"{"by":"submit"}"#)
            }
        }

        @Test(
            .timeLimit(.minutes(1)),
            arguments: [("witness.echo", -13), ("nowhere", -13), ("witness.nap", -13)]
        )
        func `A handler may not submit anything else`(task: String, status: Int) async throws {
            try await withDaemon(try manifest(granting: ["witness.other"])) { daemon in
                let record = try await daemon.run("submit", #"{"task":"\#(task)"}"#)
                #expect(record.outcome == .failed)
                try await daemon.line("submit answered \(status)", LogFilter(run: record.id))
                let refusal = try await daemon.line { $0.event == "call.refused" }
                #expect(refusal.plugin == "misbehave")
                #expect(refusal.message.contains(task))
                #expect(await daemon.host.runs(task: task, limit: 1).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `What a handler submitted goes on although its worker crashes`() async throws {
            var manifest = try manifest(granting: [])
            manifest.host.slots = 1
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("submit", #"{"task":"crash-in-start"}"#)
                #expect(record.outcome == .succeeded)
                let crash = try await daemon.line(LogFilter(task: "crash-in-start")) {
                    $0.event == "run.ended"
                }
                #expect(crash.message.hasPrefix("crashed"))
                let again = try await daemon.run("submit", #"{"task":"echo"}"#)
                #expect(again.outcome == .succeeded)
                #expect(again.pid != record.pid)
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
            }
        }
    }
}
