// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostModel
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// What a worker may use, and what happens to one that uses more.
    @Suite struct LimitTests {
        @Test(.timeLimit(.minutes(5)))
        func `A run that allocates without end is killed near its limit`() async throws {
            let limit: UInt64 = 64 << 20
            let limits = WorkerLimits(memoryBytes: limit)
            // The grace is long: a run on a busy machine must reach its limit before the end of it.
            try await withDaemon(
                try TestManifest.misbehave(grace: .seconds(60), limits: limits)
            ) { daemon in
                let record = try await daemon.runBesideOthers("allocate")
                #expect(record.outcome == .killed(.memory))
                let peak = try #require(record.usage.peakMemoryBytes)
                #expect(peak > limit)
                // The memory that it can touch in the 10 ms between two measurements, and until the kill.
                #expect(peak < 8 * limit, "\(peak >> 20) MiB")
                // The host measured less than the worker used.
                let file = daemon.folder.file("state/data/misbehave/touched")
                let count = open(file, O_RDONLY | O_CLOEXEC)
                defer { close(count) }
                var touched: UInt64 = 0
                #expect(read(count, &touched, 8) == 8)
                #expect(touched > limit / 2)
                #expect(touched < 8 * limit, "\(touched >> 20) MiB")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A process without descriptors is held to its limit of memory, too`() async throws {
            let limits = WorkerLimits(memoryBytes: 64 << 20)
            try await withDaemon(
                try TestManifest.misbehave(grace: .seconds(60), limits: limits)
            ) { daemon in
                let first = try await daemon.run("hoard-pipes")
                #expect(first.outcome == .succeeded)
                let second = try await daemon.run("allocate")
                #expect(second.pid == first.pid, "the second run must come to the same process")
                #expect(second.outcome == .killed(.memory), "\(second.message)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that burns processor time is killed at its limit`() async throws {
            let limits = WorkerLimits(cpu: .milliseconds(200))
            try await withDaemon(
                try TestManifest.misbehave(grace: .seconds(60), limits: limits)
            ) { daemon in
                let record = try await daemon.runBesideOthers("cpu-burn")
                #expect(record.outcome == .killed(.cpu))
                let used = try #require(record.usage.cpu)
                #expect(used >= .milliseconds(200))
                #expect(used < .seconds(1), "\(used)")
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["heed-memory", "heed-cpu"])
        func `A run over a limit is cancelled first and may stop`(task: String) async throws {
            let limits =
                task == "heed-cpu"
                ? WorkerLimits(cpu: .seconds(2)) : WorkerLimits(memoryBytes: 96 << 20)
            try await withDaemon(
                // A busy machine may need long for two seconds of processor time.
                try TestManifest.misbehave(
                    runtime: .seconds(200),
                    grace: .seconds(10),
                    limits: limits
                )
            ) { daemon in
                let record = try await daemon.runBesideOthers(task, #"{"limit":96}"#)
                #expect(record.outcome == .cancelledClean)
                #expect(record.stopReason == .quota)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that ignores a cancel for a limit has its grace before the kill`() async throws
        {
            // An eighth of it, 250 ms, is between the cancel and the kill without one, and a busy machine
            // needs a part of that to look.
            let limits = WorkerLimits(cpu: .seconds(2))
            try await withDaemon(
                try TestManifest.misbehave(
                    runtime: .seconds(200),
                    grace: .milliseconds(1),
                    limits: limits
                )
            ) { daemon in
                let record = try await daemon.runBesideOthers("cpu-burn")
                #expect(
                    record.outcome == .killed(.graceExceeded) || record.outcome == .killed(.cpu)
                )
                #expect(record.stopReason == .quota)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Runs that share a worker share its processor time`() async throws {
            // The second run begins before the first one has used it up.
            let manifest = try TestManifest.misbehave(
                runtime: .seconds(200),
                runsPerWorker: 4,
                limits: WorkerLimits(cpu: .seconds(2)),
                overlap: .allow,
                slots: 8
            )
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.begin("cpu-burn")
                let second = try await daemon.begin("cpu-burn")
                #expect(first.pid == second.pid)
                var records: [RunRecord] = []
                for run in [first, second] { records.append(try await daemon.end(of: run)) }
                // The one that is killed takes the other along, or both are over it at once; where the
                // daemon looks in time, they are asked first.
                let isLimited = records.contains { record in
                    record.outcome == .killed(.cpu)
                        || record.outcome == .killed(.graceExceeded)
                            && record.stopReason == .quota
                }
                #expect(isLimited, "\(records.map(\.outcome))")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A warm worker's processor time is charged to the run that uses it`() async throws {
            let limit: Duration = .milliseconds(400)
            let limits = WorkerLimits(cpu: limit)
            try await withDaemon(try TestManifest.misbehave(limits: limits)) { daemon in
                // Each run uses a part of the limit, and all of them more than it.
                var used: Duration = .zero
                var workers: Set<Int32?> = []
                while used <= limit {
                    let record = try await daemon.run("invent-completions")
                    #expect(record.outcome == .succeeded)
                    used += try #require(record.usage.cpu)
                    workers.insert(record.pid)
                }
                #expect(workers.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["fork-in-group", "fork-children"])
        func `A run that forks beyond its limit is killed`(task: String) async throws {
            let limits = WorkerLimits(processes: 8)
            try await withDaemon(try TestManifest.misbehave(limits: limits)) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .killed(.processes))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that forks without end is killed with all that it forked`() async throws {
            let limits = WorkerLimits(processes: 16)
            try await withDaemon(try TestManifest.misbehave(limits: limits)) { daemon in
                let record = try await daemon.runBesideOthers("fork-without-end")
                #expect(record.outcome == .killed(.processes))
                let worker = try #require(record.pid)
                // Nothing of its process group is left, without a name for each.
                while kill(-worker, 0) == 0 {
                    try #require(!Task.isCancelled, "the group of \(worker) lives on")
                    await Task.yield()
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Processes that a run forked in its group end with it`() async throws {
            let manifest = try TestManifest.misbehave(
                runtime: .seconds(600),
                limits: WorkerLimits(processes: 64)
            )
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.begin("fork-in-group")
                let filter = LogFilter(run: run.id)
                var children: [Int32] = []
                for await entry in daemon.follow(filter) {
                    if entry.message.hasPrefix("child "),
                        let pid = Int32(entry.message.dropFirst(6))
                    {
                        children.append(pid)
                    }
                    if entry.message.hasPrefix("forked ") { break }
                }
                #expect(children.count == 32)
                #expect(children.allSatisfy(isAlive))
                // Only now: on a busy machine it needs longer than any short runtime to start them.
                #expect(await daemon.host.expire(run: run.id))
                #expect(try await daemon.end(of: run).outcome == .killed(.graceExceeded))
                for child in children { try await gone(child) }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run that takes all descriptors runs out of them in its own worker`() async throws {
            let limits = WorkerLimits(descriptors: 40)
            try await withDaemon(try TestManifest.misbehave(limits: limits)) { daemon in
                let before = try openDescriptors()
                let record = try await daemon.runBesideOthers("leak-descriptors")
                #expect(record.outcome == .succeeded)
                let line = try await daemon.line(LogFilter(run: record.id)) {
                    $0.message.hasPrefix("leaked ")
                }
                let leaked = try #require(Int(line.message.dropFirst(7)))
                #expect((1...40).contains(leaked), "\(leaked)")
                #expect(try openDescriptors() < before + 40)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The host counts and drops a flood of log lines`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.runBesideOthers("flood-log")
                #expect(record.outcome == .succeeded)
                let limit = WorkerLimits().outputBytes
                let kept = daemon.log.entries(matching: LogFilter(run: record.id), limit: 8192)
                    .filter { $0.source == .handler }
                #expect(!kept.isEmpty)
                #expect(kept.reduce(0) { $0 + $1.message.utf8.count } <= limit)
                try await daemon.line(LogFilter(run: record.id)) { $0.event == "output.limit" }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `The host drops a flood of progress`(isolation: Isolation) async throws {
            let manifest = try TestManifest.misbehave(isolation: isolation)
            try await withDaemon(manifest) { daemon in
                let before = usedProcessorTime()
                let record = try await daemon.runBesideOthers("flood-progress")
                let used = Duration.nanoseconds(Int64(usedProcessorTime() - before))
                #expect(record.outcome == .succeeded)
                let progress = try #require(record.progress)
                #expect(progress.done == progress.total && progress.phase == "flood")
                // Ten a second; a million would cost more than this to tell one by one.
                #expect(used + (record.usage.cpu ?? .zero) < .seconds(3))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A flood of output far beyond its limit ends the run`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.runBesideOthers("flood-stdout")
                #expect(record.outcome == .killed(.output))
                let limit = WorkerLimits().outputBytes
                #expect(record.usage.outputBytes > limit)
                let kept = daemon.log.entries(matching: LogFilter(run: record.id), limit: 8192)
                    .filter { $0.source == .stdout }
                #expect(kept.reduce(0) { $0 + $1.message.utf8.count } <= limit)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A flood of frames ends the run, however slowly the host reads it`() async throws {
            try await withDaemon(try TestManifest.misbehave(runtime: .seconds(600))) { daemon in
                let record = try await daemon.runBesideOthers("flood-frames")
                #expect(record.outcome == .killed(.protocolFault(14)), "\(record.message)")
            }
        }

        /// Frames that no other limit counts, and that the worker's runtime sends once.
        @Test(.timeLimit(.minutes(5)), arguments: ["flood-reports", "flood-taken"])
        func `A flood of any frames ends the run`(task: String) async throws {
            try await withDaemon(try TestManifest.misbehave(runtime: .seconds(600))) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .killed(.protocolFault(14)), "\(record.message)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A flood of ends of one run ends its worker`() async throws {
            try await withDaemon(try TestManifest.misbehave(runtime: .seconds(600))) { daemon in
                let record = try await daemon.runBesideOthers("flood-ends")
                #expect(record.outcome == .succeeded, "\(record.message)")
                let line = try await daemon.line { $0.event == "worker.fault" }
                #expect(line.plugin == "misbehave" && line.message.contains("(fault 14)"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Output below its limit is kept whole`() async throws {
            let limits = WorkerLimits(outputBytes: 512 << 20)
            let manifest = try TestManifest.misbehave(limits: limits)
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("flood-stdout")
                #expect(record.outcome == .succeeded)
                #expect(record.usage.outputBytes == 64 << 20)
            }
        }
    }
}
