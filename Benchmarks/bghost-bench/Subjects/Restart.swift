// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostStore
internal import Glibc

// How soon a daemon that was killed schedules again.
extension Subject {
    /// So many of the requests have a run under way.
    private var running: Int { words.first.flatMap { Int($0) } ?? 0 }

    private var folder: String { "\(files)/store/\(count)-\(running)" }

    private var database: String { folder + "/bghost.sqlite" }

    /// Makes a store with as many pending requests, if it is not there from an earlier step.
    func fill() throws {
        mkdir(files + "/store", 0o755)
        if try isFilled() { return }
        try remove(folder)
        mkdir(folder, 0o700)
        let store = try SQLiteStore(path: database)
        for start in stride(from: 0, to: count, by: 1000) {
            let numbers = start..<min(start + 1000, count)
            store.commit(numbers.map { .accepted(BenchRequest.make($0), replacing: nil) }) { _ in }
        }
        // The oldest, as they would be.
        let begun = (0..<min(running, count)).map { number in
            StoreChange.runStarted(BenchRequest.run(of: BenchRequest.make(number)))
        }
        store.commit(begun) { _ in }
        store.close()
        guard try isFilled() else {
            throw BenchFailure(description: "\(database) could not be filled")
        }
    }

    private func isFilled() throws -> Bool {
        guard access(database, F_OK) == 0, let store = try? SQLiteStore(path: database) else {
            return false
        }
        defer { store.close() }
        var pending = 0
        let state = try store.recover(expecting: { _ in }) { _ in pending += 1 }
        return pending + state.interrupted.count == count
            && state.interrupted.count == min(running, count)
    }

    /// The floor: SQLite alone reads all columns of the same rows.
    func scan() throws {
        try fill()
        let child = try Output.of(
            [files + "/store-floors", "scan", database, "request"],
            seconds: 50
        )
        guard child.contains("rows \(count)\n") else {
            throw BenchFailure(description: "the floor says `\(child)`")
        }
        print(child)
    }

    /// From opening the store to an index that could give out the first request.
    func recover() throws {
        try fill()
        let before = Monotonic.now
        let store = try SQLiteStore(path: database)
        var index = PendingRequestIndex()
        _ = try store.recover(expecting: { _ in }) { request in
            let entry = index.entry(for: request.task, definition: 0, overlap: .allow)
            _ = index.accept(request, entry: entry, now: 0)
        }
        let isReady = index.nextDue != nil
        print("ms \((Double(Monotonic.now.since(before)) / 1e6).fixed(3))")
        store.close()
        guard isReady else { throw BenchFailure(description: "nothing is pending") }
    }

    /// The shipped daemon on a copy of such a store, from exec until it listens, ms; and what it
    /// takes of the processor afterwards, while all of that waits.
    func restart() throws {
        try fill()
        let state = folder + "-state"
        try remove(state)
        try run("/bin/cp", "-r", folder, state)
        let manifest = files + "/restart.json"
        try TextFile.write(
            """
            {
              "version": 1,
              "plugins": { "bench": { "library": "\(files)/bench.so" } },
              "tasks": { "bench.*": { "plugin": "bench", "handler": "nop" } }
            }

            """,
            to: manifest
        )
        let (reading, writing) = try Pipe.make()
        defer { close(reading) }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let before = Monotonic.now
        let program = programs + "/bghost"
        let child = try start(
            program,
            [
                program, "--config", manifest, "--state-dir", state, "--log-format", "text",
                "--log-level", "error",
            ],
            [null, writing, writing]
        )
        close(writing)
        close(null)
        defer { end(child) }
        try awaitSocket(state + "/control.sock")
        print("ms \((Double(Monotonic.now.since(before)) / 1e6).fixed(3))")
        // The ends of the interrupted runs are still on their way to the disk.
        usleep(1_000_000)
        try MemoryUse(of: child.pid).report(dividedBy: 1)
        let idle = 2.0
        let used = try Processor.seconds(of: child.pid)
        usleep(UInt32(idle * 1e6))
        let percent = (try Processor.seconds(of: child.pid) - used) / idle * 100
        print("idle-percent \(percent.fixed(3))")
    }

    func awaitSocket(_ path: String) throws {
        let deadline = Monotonic.now + 50_000_000_000
        while Monotonic.now < deadline {
            if UnixClient.canConnect(path) { return }
            usleep(1000)
        }
        throw BenchFailure(description: "the daemon does not listen on \(path)")
    }

    func remove(_ path: String) throws { try run("/bin/rm", "-rf", path) }

    func run(_ words: String...) throws {
        let child = try start(words[0], words)
        defer { close(child.pidfd) }
        var status: Int32 = 0
        waitpid(child.pid, &status, 0)
        guard status == 0 else {
            throw BenchFailure(description: "`\(words.joined(separator: " "))` failed")
        }
    }
}

extension Processor {
    /// What a process has used of the processors.
    static func seconds(of pid: Int32) throws -> Double {
        let bytes = readFile("/proc/\(pid)/stat", bytesMax: 4096) ?? []
        // The name in parentheses may hold spaces.
        let words = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?
            .split(separator: " ")
        guard let words, words.count > 12, let user = Double(words[11]),
            let system = Double(words[12])
        else { throw BenchFailure(description: "cannot read the times of \(pid)") }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
