// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy

// How long it takes to reach a handler, and to reach it again when it is to stop.
extension Subject {
    /// From a submission to the handler's first instruction; `cold` has each run in a new worker,
    /// `prestarted` in one that was started ahead of it.
    func firstInstruction() async throws {
        let isCold = words.contains("cold") || words.contains("prestarted")
        let handler = isCold ? "stamp-and-fail" : "stamp"
        let bench = try await BenchHost(self, plugins: [plugin()], handlers: [handler])
        try await Task(executorPreference: bench.host.reactor) {
            _ = try await starts(on: bench.host, handler, isCold ? 2 : max(20, count / 10))
            try await starts(on: bench.host, handler, count).report()
        }.value
        await bench.end()
    }

    private func starts(
        on host: isolated Host,
        _ handler: String,
        _ count: Int
    ) async throws -> Samples {
        let submission = Submission(task: "bench.\(handler)")
        var samples = Samples(reserving: count)
        for _ in 0..<count {
            // Until the next one has loaded and everything is at rest.
            if words.contains("prestarted") { try await Task.sleep(for: .milliseconds(30)) }
            let before = Monotonic.now
            let record = try await host.run(submission)
            try record.mustBe(handler == "stamp" ? .succeeded : .failed)
            let stamp = MonotonicInstant(nanoseconds: try stamp(of: record))
            samples.add(stamp.since(before))
        }
        return samples
    }

    /// From the end of the runtime to the handler's `cancel`.
    func expiry() async throws {
        let limits = RunLimits(runtime: .milliseconds(10), grace: .seconds(5))
        let bench = try await BenchHost(
            self,
            plugins: [plugin()],
            handlers: ["expire"],
            limits: limits
        )
        try await Task(executorPreference: bench.host.reactor) {
            try await expiries(on: bench.host).report()
        }.value
        await bench.end()
    }

    private func expiries(on host: isolated Host) async throws -> Samples {
        var samples = Samples(reserving: count)
        for _ in 0..<count {
            let record = try await host.run(Submission(task: "bench.expire"))
            try record.mustBe(.cancelledClean)
            samples.add(try stamp(of: record))
        }
        return samples
    }

    /// The number that a handler said.
    private func stamp(of record: RunRecord?) throws -> UInt64 {
        let text = record.map { $0.result.isEmpty ? $0.message : $0.result } ?? ""
        guard let number = UInt64(text) else {
            throw BenchFailure(description: "a handler said `\(text)`, which is not a number")
        }
        return number
    }
}
