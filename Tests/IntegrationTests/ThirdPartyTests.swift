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
                // Five readings 20 ms apart. It is looked in each of the daemon's turns, since others see
                // none of them under way on a busy machine.
                let (looks, look) = AsyncStream<Void>.makeStream()
                async let steps = daemon.host.stepsOfNextRun { look.finish() }
                // The run could be over before the first look.
                for await _ in looks {}
                let ended = try await daemon.run("task")
                let seen = await steps
                #expect(seen.contains { $0.done < 5 && $0.total == 5 && $0.phase == "reading" })
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
            var manifest = try manifest(library, "weather.watch")
            // Its process is held below, which uses the grace.
            manifest.tasks[manifest.tasks.count - 1].limits.grace = .seconds(100)
            try await withDaemon(manifest) { daemon in
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
    }
}

extension Host {
    /// What the next run says of its progress until it has ended, each once.
    ///
    /// - Parameter onFirstLook: called when a run that begins later is not missed.
    fileprivate func stepsOfNextRun(
        onFirstLook: @Sendable () -> Void
    ) async -> [RunProgress] {
        onFirstLook()
        while owners.runs.count == 0, !Task.isCancelled { await Task.yield() }
        var steps: [RunProgress] = []
        while !Task.isCancelled, let run = owners.runs.slots.lazy.compactMap(\.self).first {
            if let step = run.record.progress, step != steps.last { steps.append(step) }
            await Task.yield()
        }
        return steps
    }
}
