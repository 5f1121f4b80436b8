// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import BghostServices
import BghostTestSupport
import Testing

extension Integration {
    /// All that a plugin writes counts against its limit: logs, stdout and stderr.
    @Suite struct OutputBudgetTests {
        private static func manifest(runsPerWorker: Int = 1) throws -> Manifest {
            var manifest = try TestManifest.witness()
            manifest.plugins.append(
                PluginDefinition(
                    name: "noisy",
                    library: try Fixture.library("noisy"),
                    runsPerWorker: runsPerWorker
                )
            )
            for handler in ["escapes", "afterwards", "newlines"] {
                let limits = RunLimits(runtime: .seconds(120), grace: .milliseconds(200))
                manifest.tasks.append(try TestManifest.task(handler, "noisy", handler, limits))
            }
            return manifest
        }

        /// With a running clock, the log adds a line of its own at the end of a second in which it left lines out.
        private static let stoppedClock = MonotonicInstant(nanoseconds: 5_000_000_000)

        private static func written(_ daemon: RunningHost) -> Int {
            daemon.log.entries(matching: LogFilter(), limit: 8192)
                .filter { $0.source == .stdout }
                .reduce(0) { $0 + $1.message.utf8.count + 1 }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Escaped characters count with their escapes`() async throws {
            try await withDaemon(try Self.manifest()) { daemon in
                // 40 KiB of what is printed as 200 KiB.
                let record = try await daemon.run("escapes")
                #expect(record.outcome == .succeeded)
                try await daemon.line { $0.event == "output.limit" }
                #expect(Self.written(daemon) <= WorkerLimits().outputBytes)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Output after a run counts against the limit and ends the worker`() async throws {
            try await withDaemon(try Self.manifest()) { daemon in
                #expect(try await daemon.run("afterwards").outcome == .succeeded)
                // Before that, the run itself may have come to its limit.
                let line = try await daemon.line {
                    $0.event == "output.limit" && $0.message.contains("outside of runs")
                }
                #expect(line.plugin == "noisy")
                let end = try await daemon.line { $0.event == "worker.idle_work" }
                #expect(end.message.contains("output"))
                #expect(Self.written(daemon) <= 2 * WorkerLimits().outputBytes)
            }
        }

        /// With two runs in one worker, the daemon cannot tell which run wrote a line.
        @Test(.timeLimit(.minutes(5)))
        func `Lines of a worker with two runs count too`() async throws {
            try await withDaemon(try Self.manifest(runsPerWorker: 2)) { daemon in
                let record = try await daemon.run("newlines")
                #expect(record.outcome == .killed(.output))
                #expect(Self.written(daemon) <= WorkerLimits().outputBytes)
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
        }

        /// Its last lines are in the pipe when it is killed.
        @Test(.timeLimit(.minutes(5)))
        func `Empty lines end a run long before their bytes would`() async throws {
            try await withDaemon(try Self.manifest()) { daemon in
                let record = try await daemon.run("newlines")
                #expect(record.outcome == .killed(.output))
                #expect(record.usage.outputBytes < 512 << 10, "\(record.usage.outputBytes)")
            }
        }

        @Test func `One plugin's output does not displace lines of others`() {
            let log = HostLog(linesMax: 100, bytesMax: 1 << 20, clock: { Self.stoppedClock })
            log.write(.info, "first", "of the host")
            log.write(.info, "", "of another", source: .stdout, plugin: "quiet")
            for number in 0..<10_000 {
                log.write(.info, "", "\(number)", source: .stdout, plugin: "loud")
            }
            let kept = log.entries(matching: LogFilter(), limit: 1000)
            #expect(kept.prefix(2).map(\.message) == ["of the host", "of another"])
            #expect(kept.count == 100)
            #expect(kept.suffix(98).map(\.message) == (9902..<10_000).map { "\($0)" })
            // The newest lines of several plugins and of the daemon share the room.
            for number in 0..<300 {
                log.write(.info, "", "\(number)", source: .stdout, plugin: "p\(number % 2)")
                log.write(.info, "", "\(number)")
            }
            for plugin in ["loud", "p0", "p1"] {
                let own = log.entries(matching: LogFilter(plugin: plugin), limit: 1000)
                #expect((15...35).contains(own.count), "\(plugin): \(own.count)")
            }
            #expect(log.entries(matching: LogFilter(plugin: "quiet"), limit: 1000).count == 1)
        }

        @Test func `Lines are bounded in bytes`() {
            let log = HostLog(bytesMax: 1 << 20, clock: { Self.stoppedClock })
            let long = String(repeating: "x", count: 50_000)
            for _ in 0..<1000 {
                log.write(.info, "", long, plugin: "loud")
                log.write(.info, "", long)
            }
            let kept = log.entries(matching: LogFilter(), limit: 8192)
            #expect(kept.reduce(0) { $0 + $1.message.utf8.count } <= 1 << 20)
            #expect(kept.count { $0.plugin == "loud" } > 5)
            log.write(.info, "", String(repeating: "y", count: 10 << 20))
            let last = log.entries(matching: LogFilter(), limit: 1).first?.message ?? ""
            #expect(last.utf8.count < 200 << 10 && last.hasSuffix("more bytes)"))
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run fails with a reason if the worker cannot get its message`() async throws {
            var manifest = try Self.manifest()
            let paths = (0..<2000).map {
                "/usr/share/" + String(repeating: "d", count: 100) + "\($0)"
            }
            manifest.plugins[manifest.plugins.count - 1].permissions.read = paths
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("escapes")
                #expect(record.outcome == .failed)
                #expect(record.message.contains("128 KiB"), "\(record.message)")
                #expect(!record.message.contains("constructors"))
            }
        }
    }
}
