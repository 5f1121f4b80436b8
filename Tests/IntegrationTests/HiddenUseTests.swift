// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostHost
@testable import BghostModel
@testable import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Resources of a plugin that a measurement of its worker does not show.
    @Suite struct HiddenUseTests {
        private static func manifest(
            _ task: String,
            _ limits: WorkerLimits,
            runsPerWorker: Int = 1,
            runs: Int = 1
        ) throws -> Manifest {
            var manifest = try TestManifest.witness()
            manifest.host.slots = runs + 2
            manifest.plugins.append(
                PluginDefinition(
                    name: "idler",
                    library: try Fixture.library("idler"),
                    runsPerWorker: runsPerWorker,
                    limits: limits
                )
            )
            let times = RunLimits(runtime: .seconds(200), grace: .milliseconds(200))
            manifest.tasks.append(
                try TestManifest.task(task, "idler", task, times, overlap: .allow)
            )
            return manifest
        }

        @Test(.timeLimit(.minutes(5)))
        func `Memory of child processes counts for the plugin`() async throws {
            let limits = WorkerLimits(memoryBytes: 96 << 20, processes: 8)
            let manifest = try Self.manifest("children-with-memory", limits)
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("children-with-memory")
                // It is asked first while they have little too much.
                let isEnded =
                    record.outcome == .killed(.memory)
                    || record.outcome == .cancelledClean && record.stopReason == .quota
                #expect(isEnded, "\(record)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Processor time of child processes counts for the run`() async throws {
            let limits = WorkerLimits(cpu: .milliseconds(300), processes: 8)
            let manifest = try Self.manifest("child-with-processor", limits)
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("child-with-processor")
                let isEnded =
                    record.outcome == .killed(.cpu)
                    || record.outcome == .cancelledClean && record.stopReason == .quota
                #expect(isEnded, "\(record)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Memory that one system call takes is seen while it takes it`() async throws {
            let limits = WorkerLimits(memoryBytes: 64 << 20)
            try await withDaemon(try Self.manifest("one-long-call", limits)) { daemon in
                let record = try await daemon.run("one-long-call")
                // While it has little too much it is asked to stop, which it cannot within its call.
                let isEnded =
                    record.outcome == .killed(.memory)
                    || record.outcome == .killed(.graceExceeded) && record.stopReason == .quota
                #expect(isEnded, "\(record)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Processor time that one system call takes is seen while it takes it`() async throws {
            let limits = WorkerLimits(cpu: .milliseconds(200))
            try await withDaemon(try Self.manifest("one-busy-call", limits)) { daemon in
                let record = try await daemon.run("one-busy-call")
                // Its cancel() ends the run on another thread, unless the worker is killed before.
                let isEnded = record.stopReason == .quota || record.outcome == .killed(.cpu)
                #expect(isEnded && record.outcome != .succeeded, "\(record)")
            }
        }

        // Only root may look at what a worker has open.
        @Test(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0))
        func `Files without a name count as the data that they are`() async throws {
            let limits = WorkerLimits(dataBytes: 4 << 20)
            try await withDaemon(try Self.manifest("unlinked-files", limits)) { daemon in
                let record = try await daemon.run("unlinked-files")
                #expect(record.outcome == .killed(.data), "\(record)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Each of many runs in one worker has its own cancel_fd`() async throws {
            let runs = 96
            let manifest = try Self.manifest(
                "show-descriptor",
                WorkerLimits(descriptors: 32),
                runsPerWorker: runs,
                runs: runs
            )
            try await withDaemon(manifest) { daemon in
                var begun: [RunRecord] = []
                for _ in 0..<runs { begun.append(try await daemon.begin("show-descriptor")) }
                #expect(Set(begun.map(\.pid)).count == 1)
                for run in begun {
                    let line = try await daemon.line(LogFilter(run: run.id)) {
                        $0.message.hasPrefix("descriptor ")
                    }
                    #expect(line.message != "descriptor -1")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run without a cancel_fd says so`() async throws {
            let limits = WorkerLimits(descriptors: 40)
            let manifest = try Self.manifest("show-descriptor", limits, runsPerWorker: 2, runs: 2)
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.begin("show-descriptor", #"{"leak":"yes"}"#)
                try await daemon.line(LogFilter(run: first.id)) {
                    $0.message.hasPrefix("descriptor ")
                }
                let second = try await daemon.begin("show-descriptor")
                #expect(second.pid == first.pid)
                let filter = LogFilter(run: second.id)
                try await daemon.line(filter) { $0.message == "descriptor -1" }
                let line = try await daemon.line(filter) { $0.level == .warning }
                #expect(line.message.contains("it has no `cancel_fd`"), "\(line.message)")
            }
        }

        // By a timer the daemon sees what a worker uses. The kernel counts timers for the user, and without root
        // the daemon and all workers have the same one.
        @Test(.timeLimit(.minutes(5)))
        func `A plugin cannot use up the timers of the daemon`() async throws {
            try await withDaemon(try Self.manifest("take-timers", WorkerLimits())) { daemon in
                let record = try await daemon.run("take-timers")
                #expect(record.outcome == .succeeded)
                let line = try await daemon.line(LogFilter(run: record.id)) {
                    $0.message.hasPrefix("timers ")
                }
                let numbers = line.message.split { !$0.isNumber }.compactMap { Int32($0) }
                #expect(numbers.count == 2 && numbers[0] <= 1024 && numbers[1] == EAGAIN)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Calls above the rate return BG_E_LIMIT`() async throws {
            try await withDaemon(try Self.manifest("ask-much", WorkerLimits())) { daemon in
                let record = try await daemon.run("ask-much")
                #expect(record.outcome == .succeeded)
                let line = try await daemon.line(LogFilter(run: record.id)) {
                    $0.message.hasPrefix("taken ")
                }
                let numbers = line.message.split { !$0.isNumber }.compactMap { Int($0) }
                let seconds = Int(try #require(record.duration).components.seconds) + 2
                #expect(numbers.count == 2 && numbers[0] <= 5000 * seconds, "\(line.message)")
                #expect(numbers.reduce(0, +) == 12000)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A completion before its run has begun is a fault`() async throws {
            let library = try Fixture.library("complete-before-begin")
            try await withDaemon(try TestManifest.plugin("early", library: library)) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .killed(.protocolFault(11)), "\(record)")
            }
        }
    }
}
