// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

/// One program of the bench: it prints lines of `metric value` and ends.
struct Step: Hashable {
    enum Program: Hashable {
        /// The C floors.
        case floors
        /// Those of the store, which need SQLite and C++.
        case storeFloors
        /// This program, as a subject.
        case bench
        /// The same on one processor, with all that it starts.
        case pinnedBench
    }

    var program: Program
    var words: [String]
    /// Put behind the first word; `nil` if the words say all.
    var count: Int?
    /// How long it may take.
    var seconds: UInt64 = 60

    static func floor(_ words: String..., count: Int? = nil) -> Step {
        Step(program: .floors, words: words, count: count)
    }

    static func storeFloor(_ words: String..., count: Int? = nil) -> Step {
        Step(program: .storeFloors, words: words, count: count)
    }

    static func subject(_ name: String, _ count: Int, _ words: String...) -> Step {
        Step(program: .bench, words: [name] + words, count: count)
    }

    /// One that first makes a store which later steps use too.
    static func long(_ name: String, _ count: Int, _ words: String...) -> Step {
        Step(program: .bench, words: [name] + words, count: count, seconds: 600)
    }

    static func pinned(_ name: String, _ count: Int, _ words: String...) -> Step {
        Step(program: .pinnedBench, words: [name] + words, count: count)
    }

    /// Runs it and returns what it printed.
    func measure(_ options: BenchOptions) throws -> [String: Double] {
        let floors = options.files + "/floors"
        let count = count.map { options.isShort ? max(3, $0 / 20) : $0 }
        var arguments: [String]
        switch program {
        case .floors, .storeFloors:
            arguments = [program == .floors ? floors : options.files + "/store-floors"]
            arguments += words + (count.map { [String($0)] } ?? [])
        case .bench, .pinnedBench:
            arguments = program == .bench ? [] : [floors, "pinned", "0"]
            arguments += [Place.program, "subject", words[0], String(count ?? 1)]
            arguments += [options.files, options.programs] + words[1...]
        }
        let output = try Output.of(arguments, seconds: seconds)
        var metrics: [String: Double] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Double(words[1]) { metrics[String(words[0])] = value }
        }
        return metrics
    }
}

/// What a program prints.
enum Output {
    /// Runs a program to its end.
    ///
    /// Its errors go where ours go.
    static func of(_ arguments: [String], seconds: UInt64) throws -> String {
        let (reading, writing) = try Pipe.make()
        defer { close(reading) }
        let order = Spawner.Order(
            path: arguments[0],
            arguments: arguments,
            environment: ["HOME=/tmp", "PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"],
            descriptors: [0, writing, 2]
        )
        let child: Spawner.Spawned
        do {
            defer { close(writing) }
            child = try Spawner.spawnHere(order)
        }
        defer { close(child.pidfd) }
        let text = read(reading, until: Monotonic.now + seconds * 1_000_000_000)
        if text == nil { kill(child.pid, SIGKILL) }
        var status: Int32 = 0
        waitpid(child.pid, &status, 0)
        let name = arguments.joined(separator: " ")
        guard let text else {
            throw BenchFailure(description: "`\(name)` does not end within \(seconds) s")
        }
        guard status == 0 else {
            throw BenchFailure(description: "`\(name)` failed (status \(status))")
        }
        return text
    }

    /// `nil` if it does not end in time.
    private static func read(_ fd: Int32, until deadline: MonotonicInstant) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let now = Monotonic.now
            guard now < deadline else { return nil }
            var wanted = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(deadline.since(now) / 1_000_000) + 1) > 0 else { continue }
            let count = Glibc.read(fd, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
