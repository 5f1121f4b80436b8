// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostModel
import BghostTestSupport
import Testing

extension Integration {
    /// Plugins as others write and ship them.
    @Suite struct ThirdPartyTests {
        private func manifest(
            _ library: String,
            _ handler: String,
            isolation: Isolation = .worker
        ) throws -> Manifest {
            var manifest = try TestManifest.plugin("third", library: library, handler: handler)
            let index = try #require(manifest.plugins.firstIndex { $0.name == "third" })
            manifest.plugins[index].isolation = isolation
            return manifest
        }

        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `The example in C runs, and tells how far it is`(isolation: Isolation) async throws {
            let source = PackageRoot.path + "/Examples/c/weather.c"
            let library = try Fixture.library(source: source)
            try await withDaemon(
                try manifest(library, "weather.watch", isolation: isolation)
            ) { daemon in
                let run = try await daemon.begin("task")
                // Five readings 20 ms apart: some of them are seen under way.
                var seen: [RunProgress] = []
                while let now = await daemon.host.runs(task: "task", limit: 1).first,
                    now.state != .ended
                {
                    if let progress = now.progress, progress != seen.last { seen.append(progress) }
                    await Task.yield()
                }
                #expect(seen.contains { $0.done < 5 && $0.total == 5 && $0.phase == "reading" })
                let ended = try await daemon.end(of: run)
                #expect(ended.outcome == .succeeded)
                #expect(ended.message == "five readings")
                #expect(ended.result == #"{"fall":18,"storm":true}"#)
                #expect(ended.progress == RunProgress(done: 5, total: 5, phase: "reading"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The example in C stops at once when it is cancelled`() async throws {
            let source = PackageRoot.path + "/Examples/c/weather.c"
            let library = try Fixture.library(source: source)
            try await withDaemon(try manifest(library, "weather.watch")) { daemon in
                let run = try await daemon.begin("task")
                #expect(await daemon.host.expire(run: run.id))
                let ended = try await daemon.end(of: run)
                #expect(ended.outcome == .cancelledClean)
            }
        }

        /// The file was built once against the header of 1.0 and is never built again.
        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `A binary of ABI 1.0 runs`(isolation: Isolation) async throws {
            let library = PackageRoot.path + "/Tests/Fixtures/Binaries/abi-1.0-x86_64.so"
            let handlers = ["succeed", "echo", "honour-cancel"]
            for handler in handlers {
                try await withDaemon(
                    try manifest(library, handler, isolation: isolation)
                ) { daemon in
                    let run = try await daemon.begin("task", #"{"n":1}"#)
                    if handler == "honour-cancel" {
                        #expect(await daemon.host.expire(run: run.id))
                    }
                    let ended = try await daemon.end(of: run)
                    let isCancelled = handler == "honour-cancel"
                    #expect(ended.outcome == (isCancelled ? .cancelledClean : .succeeded))
                    #expect(ended.result == (handler == "echo" ? #"{"n":1}"# : ""))
                    try await daemon.line("opened")
                    if handler == "echo" { try await daemon.line("no state") }
                    if isCancelled { try await daemon.line("released") }
                }
            }
        }
    }
}
