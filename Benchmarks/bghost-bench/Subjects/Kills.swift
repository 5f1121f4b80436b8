// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import CBghostSystem
internal import Glibc

// From the end of a grace to the end of what was killed.
extension Subject {
    /// One that ignores its cancel; `busy` has it spin while every processor is taken.
    func kill() async throws {
        let isBusy = words.contains("busy")
        var spinners: [Spawner.Spawned] = []
        defer { for spinner in spinners { end(spinner) } }
        if isBusy {
            for cpu in 0..<Processor.count {
                spinners.append(try start(files + "/floors", ["floors", "burn", String(cpu)]))
            }
        }
        try await stopping(isBusy ? "spin" : "ignore") { host, handler in
            try await oneKilled(on: host, handler).late
        }
    }

    /// A worker with nine children.
    func killTree() async throws {
        try await stopping("tree") { host, handler in
            let killed = try await oneKilled(on: host, handler)
            defer { for fd in killed.tree { close(fd) } }
            for fd in killed.tree {
                var wanted = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
                guard poll(&wanted, 1, 5000) == 1 else {
                    throw BenchFailure(description: "a child of a killed worker lives on")
                }
            }
            return Monotonic.now.since(killed.deadline)
        }
    }

    private func stopping(
        _ handler: String,
        _ once: @escaping @Sendable (isolated Host, String) async throws -> UInt64
    ) async throws {
        let limits = RunLimits(runtime: .seconds(60), grace: .milliseconds(10))
        var plugin = plugin()
        // Of those that are killed some have children.
        plugin.limits.processes = 64
        let bench = try await BenchHost(
            self,
            plugins: [plugin],
            handlers: [handler],
            limits: limits
        )
        let count = count
        try await Task(executorPreference: bench.host.reactor) {
            var samples = Samples(reserving: count)
            for _ in 0..<count { samples.add(try await once(bench.host, handler)) }
            samples.report()
        }.value
        await bench.end()
    }

    private struct Killed {
        /// Nanoseconds from the deadline to the run's end.
        let late: UInt64
        let deadline: MonotonicInstant
        /// Of each child that the worker had; the caller closes them.
        let tree: [Int32]
    }

    private func oneKilled(on host: isolated Host, _ handler: String) async throws -> Killed {
        let task = "bench.\(handler)"
        let run = Task(executorPreference: host.reactor) {
            try await ended(on: host, Submission(task: task))
        }
        let holding = try await holdingRuns(on: host, task, 1)[0]
        let tree = handler == "tree" ? try children(of: holding.pid ?? 0) : []
        // From here the machine counts: its clock is that of the reactor's turn.
        let deadline = host.reactor.now + 10_000_000
        guard host.expire(run: holding.id) else {
            throw BenchFailure(description: "a run that holds cannot be expired")
        }
        let (record, end) = try await run.value
        try record.mustBe(.killed(.graceExceeded))
        return Killed(late: end.since(deadline), deadline: deadline, tree: tree)
    }

    private func ended(
        on host: isolated Host,
        _ submission: Submission
    ) async throws -> (RunRecord?, MonotonicInstant) {
        let record = try await host.run(submission)
        return (record, Monotonic.now)
    }

    private func children(of pid: Int32) throws -> [Int32] {
        let bytes = readFile("/proc/\(pid)/task/\(pid)/children", bytesMax: 4096) ?? []
        let pids = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            .compactMap { Int32($0) }
        guard pids.count == 9 else {
            throw BenchFailure(description: "the tree has \(pids.count) children instead of 9")
        }
        return pids.map { bgs_pidfd_open($0) }
    }
}

extension Subject {
    /// The runs of a task, once so many have said that they hold.
    func holdingRuns(
        on host: isolated Host,
        _ task: String,
        _ wanted: Int
    ) async throws -> [RunRecord] {
        let limit = Monotonic.now + 30_000_000_000
        while Monotonic.now < limit {
            let holding = await host.runs(task: task, limit: wanted).filter {
                $0.state == .running && $0.progress != nil
            }
            if holding.count == wanted { return holding }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw BenchFailure(description: "\(task) does not begin")
    }

    func start(
        _ path: String,
        _ arguments: [String],
        _ descriptors: [Int32] = []
    ) throws -> Spawner.Spawned {
        try Spawner.spawnHere(
            Spawner.Order(
                path: path,
                arguments: arguments,
                environment: ["HOME=/tmp", "PATH=/usr/bin:/bin"],
                descriptors: descriptors
            )
        )
    }

    func end(_ child: Spawner.Spawned) {
        Glibc.kill(child.pid, SIGKILL)
        waitpid(child.pid, nil, 0)
        close(child.pidfd)
    }
}
