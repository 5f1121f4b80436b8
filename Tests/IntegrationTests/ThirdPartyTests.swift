// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Plugins as others write and ship them.
    @Suite struct ThirdPartyTests {
        private func manifest(
            _ library: String,
            _ handler: String,
            isolation: Isolation = .worker
        ) throws -> Manifest {
            // All of them stop when they are told to, on a busy machine after a while.
            var manifest = try TestManifest.plugin(
                "third",
                library: library,
                handler: handler,
                grace: .seconds(100)
            )
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
                let ended = try await daemon.run("task")
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
                let worker = try #require(try await daemon.run("task").pid)
                // It completes its run itself, so its slot is free only after the end of that.
                while await daemon.executorsWithUnreleasedRuns > 0 { await Task.yield() }
                // It has only 100 ms, which a busy machine needs to tell it.
                try #require(kill(worker, SIGSTOP) == 0)
                let run = try await daemon.begin("task")
                try #require(run.pid == worker)
                #expect(await daemon.host.expire(run: run.id))
                try #require(kill(worker, SIGCONT) == 0)
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

        /// The same in Swift, with the SDK and the runtime of that time inside.
        @Test(.timeLimit(.minutes(5))) func `A binary in Swift of ABI 1.0 runs`() async throws {
            let folder = try TemporaryDirectory()
            let library = folder.file("abi-1.0-swift.so")
            let kept = PackageRoot.path + "/Tests/Fixtures/Binaries/abi-1.0-swift-x86_64.so.gz"
            let unpacked = try Command.run(
                ["sh", "-c", #"gzip -dc "$1" >"$2""#, "sh", kept, library]
            )
            try #require(unpacked.exitCode == 0, "\(unpacked.error)")
            for handler in ["succeed", "echo", "honour-cancel"] {
                try await withDaemon(try manifest(library, handler)) { daemon in
                    let run = try await daemon.begin("task", #"{"n":1}"#)
                    if handler == "honour-cancel" {
                        #expect(await daemon.host.expire(run: run.id))
                    }
                    let ended = try await daemon.end(of: run)
                    let isCancelled = handler == "honour-cancel"
                    #expect(ended.outcome == (isCancelled ? .cancelledClean : .succeeded))
                    #expect(ended.result == (handler == "echo" ? #"{"n":1}"# : ""))
                    switch handler {
                    case "succeed": try await daemon.line("task task")
                    case "echo":
                        #expect(ended.progress == RunProgress(done: 1, total: 2, phase: "echoing"))
                    default: break
                    }
                }
            }
        }
    }
}
