// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy

// From a submission to the run's end, in a worker or in the daemon.
extension Subject {
    private var isolation: Isolation { words.contains("in-process") ? .inProcess : .worker }

    /// One run after the other.
    func roundTrip() async throws {
        let bench = try await BenchHost(
            self,
            plugins: [plugin(isolation: isolation)],
            handlers: ["nop"]
        )
        // A continuation resumes on the executor that its task prefers before it goes on to the
        // actor's: with any other, each run would pass through the global pool.
        try await Task(executorPreference: bench.host.reactor) {
            let submission = Submission(task: "bench.nop")
            _ = try await oneByOne(on: bench.host, submission, max(20, count / 10))
            try await oneByOne(on: bench.host, submission, count).report()
        }.value
        await bench.end()
    }

    /// On the host's own executor.
    private func oneByOne(
        on host: isolated Host,
        _ submission: Submission,
        _ count: Int
    ) async throws -> Samples {
        var samples = Samples(reserving: count)
        for _ in 0..<count {
            let before = Monotonic.now
            let record = try await host.run(submission)
            samples.add(Monotonic.now.since(before))
            try record.mustBe(.succeeded)
        }
        return samples
    }

    /// 256 runs in flight, over as many plugins as the words say, each with one worker.
    func throughput() async throws {
        let inFlight = 256
        let plugins = words.contains("two") ? 2 : 1
        let bench = try await BenchHost(
            self,
            plugins: (0..<plugins).map {
                plugin("bench\($0)", isolation: isolation, slotCount: inFlight / plugins)
            },
            handlers: ["nop"],
            slots: inFlight
        )
        for index in 0..<plugins {
            let warm = Submission(task: "bench\(index).nop")
            _ = try await oneByOne(on: bench.host, warm, 10)
        }
        let before = Monotonic.now
        let each = max(1, count / inFlight)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for slotIndex in 0..<inFlight {
                let submission = Submission(task: "bench\(slotIndex % plugins).nop")
                group.addTask(executorPreference: bench.host.reactor) {
                    try await self.repeated(on: bench.host, submission, each)
                }
            }
            try await group.waitForAll()
        }
        Self.rate(each * inFlight, since: before)
        await bench.end()
    }

    private func repeated(
        on host: isolated Host,
        _ submission: Submission,
        _ count: Int
    ) async throws {
        for _ in 0..<count { try await host.run(submission).mustBe(.succeeded) }
    }
}

extension RunRecord? {
    /// A bench that measures failures would look fast.
    func mustBe(_ outcome: Outcome) throws {
        guard self?.outcome == outcome else {
            throw BenchFailure(
                description: "a run ended \(self?.outcome?.text ?? "without a record")"
                    + " instead of \(outcome.text): \(self?.message ?? "")"
            )
        }
    }
}
