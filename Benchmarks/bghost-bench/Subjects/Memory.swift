// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import Glibc

// What processes take, and how soon a daemon is ready.
extension Subject {
    /// What each of a few workers that wait takes.
    func workers() async throws {
        let bench = try await BenchHost(
            self,
            plugins: [plugin()],
            handlers: ["ignore"],
            limits: RunLimits(runtime: .seconds(600), grace: .milliseconds(100))
        )
        let count = count
        try await Task(executorPreference: bench.host.reactor) {
            try await hold(on: bench.host, count)
        }.value
        await bench.end()
    }

    private func hold(on host: isolated Host, _ count: Int) async throws {
        let task = "bench.ignore"
        for _ in 0..<count {
            _ = try await host.trigger(Submission(task: task))
        }
        let pids = try await holdingRuns(on: host, task, count).compactMap(\.pid)
        var sum = MemoryUse()
        for pid in pids { sum += try MemoryUse(of: pid) }
        sum.report(dividedBy: pids.count)
    }

    /// Starts a program until it has said the first of the words, and looks at it a moment later.
    ///
    /// The other words are the program and its arguments.
    func ready() throws {
        guard words.count >= 2 else { throw UsageError(description: "ready wants a PROGRAM") }
        var samples = Samples(reserving: count)
        for round in 0..<count {
            let (reading, writing) = try Pipe.make()
            defer { close(reading) }
            let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
            let before = Monotonic.now
            let child = try start(
                words[1],
                Array(words[1...]),
                [null, writing, writing]
            )
            close(writing)
            close(null)
            defer { end(child) }
            try wait(for: words[0], on: reading)
            samples.add(Monotonic.now.since(before))
            guard round == count - 1 else { continue }
            // Threads that begin with the daemon have come to rest by then.
            usleep(300_000)
            try MemoryUse(of: child.pid).report(dividedBy: 1)
        }
        samples.report()
    }

    private func wait(for word: String, on fd: Int32) throws {
        var said: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var wanted = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, 10_000) == 1 {
            let count = read(fd, &buffer, buffer.count)
            guard count > 0 else { break }
            said += buffer[..<count]
            if String(decoding: said, as: UTF8.self).contains(word) { return }
        }
        throw BenchFailure(
            description: "\(words[1]) is not ready; it said: "
                + String(decoding: said.suffix(500), as: UTF8.self)
        )
    }
}

/// What the kernel counts for a process, KiB.
struct MemoryUse {
    private(set) var rss = 0
    private var pss = 0
    private(set) var dirty = 0

    init() {}

    init(of pid: Int32) throws {
        guard let bytes = readFile("/proc/\(pid)/smaps_rollup", bytesMax: 4096) else {
            throw BenchFailure(description: "cannot read the memory of \(pid)")
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let kib = Int(words[1]) else { continue }
            switch words[0] {
            case "Rss:": rss += kib
            case "Pss:": pss += kib
            case "Private_Dirty:": dirty += kib
            default: break
            }
        }
    }

    static func += (sum: inout Self, one: Self) {
        sum.rss += one.rss
        sum.pss += one.pss
        sum.dirty += one.dirty
    }

    func report(dividedBy count: Int) {
        let count = max(1, count)
        print("rss-kib \(rss / count)\npss-kib \(pss / count)\ndirty-kib \(dirty / count)")
    }
}
