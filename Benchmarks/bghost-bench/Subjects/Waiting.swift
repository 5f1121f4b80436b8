// SPDX-License-Identifier: Apache-2.0

internal import BghostHost
internal import BghostModel
internal import BghostPolicy
internal import BghostStore
internal import Glibc

// What a host does to its work, and to the processor, while many requests wait in it.
extension Subject {
    /// How late fifty requests begin among as many others that wait, and what the waiting costs.
    func waiting() async throws {
        let store = MemoryStore()
        let probes = 50
        // The host must have taken all of it over by then.
        let first = Self.wallClock + 1_000_000_000 + Int64(count) * 10_000
        let dates = (0..<probes).map { first + Int64($0) * 10_000_000 }
        for number in 0..<count {
            var request = BenchRequest.make(number, parameters: "{}")
            request.task = "bench.nop.\(number)"
            store.commit([.accepted(request, replacing: nil)]) { _ in }
        }
        let requests = dates.indices.map { index in
            var request = BenchRequest.make(count + index, parameters: "{}")
            request.task = "bench.nop.probe\(index)"
            request.earliestBegin = dates[index]
            return request
        }
        store.commit(requests.map { .accepted($0, replacing: nil) }) { _ in }
        let bench = try await BenchHost(
            self,
            plugins: [plugin()],
            handlers: ["nop"],
            suffix: ".*",
            store: store
        )
        guard Self.wallClock < first else {
            throw BenchFailure(description: "\(count) requests are taken over too slowly")
        }
        var samples = Samples(reserving: probes)
        for request in requests {
            let record = await bench.host.waitForRun(ofRequest: request.id)
            try record.mustBe(.succeeded)
            let late = (record?.startedAt ?? 0) - (request.earliestBegin ?? 0)
            guard late >= 0 else { throw BenchFailure(description: "a run began too early") }
            samples.add(UInt64(late))
        }
        samples.report()
        let idle = 2.0
        let used = try Processor.seconds(of: getpid())
        usleep(UInt32(idle * 1e6))
        let percent = (try Processor.seconds(of: getpid()) - used) / idle * 100
        print("idle-percent \(percent.fixed(3))")
        await bench.end()
    }

    private static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
