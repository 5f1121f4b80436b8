// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostTransferRules
internal import BghostStore
internal import BghostTransfer
internal import Glibc

/// An engine as the daemon has it, with its journal beside the files.
private struct Engine: Sendable {
    let engine: TransferEngine
    private let journal: SQLiteTransferJournal
    private let folder: String

    /// - Parameter connectionsMax: to one server.
    init(in folder: String, connectionsMax: Int = 6, transfersMax: Int = 10_000) async throws {
        self.folder = folder
        journal = try SQLiteTransferJournal(path: folder + "/journal")
        var limits = TransferLimits()
        limits.perServerMax = connectionsMax
        limits.totalMax = max(limits.totalMax, connectionsMax)
        limits.perPluginMax = max(limits.perPluginMax, transfersMax)
        // Nothing fails but what is cut, and that is tried again at once.
        engine = TransferEngine(limits: limits, journal: journal, random: { _ in 0 }) { _ in
            TransferAccess(writable: [folder], readable: [folder], permits: { _, _ in true })
        }
        try await engine.recover()
    }

    func request(
        _ number: Int,
        _ kind: TransferKind,
        _ url: String,
        _ file: String
    ) -> TransferRequest {
        TransferRequest(
            id: RunID(high: 1, low: UInt64(number)),
            plugin: "bench",
            session: "bench",
            kind: kind,
            url: url,
            file: folder + "/" + file,
            createdAt: SystemTransferClock().unixNow
        )
    }

    func carry(_ request: TransferRequest) async throws {
        let record = try await engine.carry(request)
        guard record.status.state == .done else {
            throw BenchFailure(description: "a transfer ended otherwise: \(record.status)")
        }
    }

    func end() async {
        await engine.shutDown()
        journal.close()
    }
}

extension Subject {
    /// One large file, `down` or `up`, MiB; from the opening of the journal on.
    func transfer() async throws {
        let server = try FileServer(self)
        let bytes = count << 20
        let isDown = words.first == "down"
        if !isDown { _ = try server.makeFile(count) }
        let watch = Stopwatch()
        let bench = try await Engine(in: server.folder)
        try await bench.carry(
            isDown
                ? bench.request(1, .download, server.url("\(bytes)"), "file")
                : bench.request(1, .upload(.whole), server.url("file"), "source")
        )
        watch.report(.bytes(bytes))
        if isDown { try server.check("file", bytes: bytes) }
        await bench.end()
    }

    /// Small files, each a transfer of its own that a run waits for.
    func manyFiles() async throws {
        let server = try FileServer(self)
        let count = count
        let watch = Stopwatch()
        let bench = try await Engine(in: server.folder, connectionsMax: 16, transfersMax: count)
        try await withThrowingTaskGroup { group in
            for number in 1...count {
                let url = server.url("1024?\(number)")
                group.addTask {
                    try await bench.carry(bench.request(number, .download, url, "\(number)"))
                }
            }
            try await group.waitForAll()
        }
        watch.report(.files(count))
        for number in 1...count { try server.check("\(number)", bytes: 1024) }
        await bench.end()
    }

    /// What transfers take of the memory while each has a connection and half of its file.
    func transfersInFlight() async throws {
        let server = try FileServer(self)
        let count = count
        let half = 64 << 10
        let bench = try await Engine(in: server.folder, connectionsMax: count)
        try await bench.carry(bench.request(1, .download, server.url("1024"), "first"))
        let before = try MemoryUse(of: getpid())
        for number in 1...count {
            let url = server.url("\(2 * half)?stall\(number)")
            let request = bench.request(number + 1, .download, url, "\(number)")
            _ = try await bench.engine.create(request)
        }
        let deadline = Monotonic.now + 50_000_000_000
        while true {
            let moved = await bench.engine.list().reduce(0) { $0 + $1.moved }
            if moved == UInt64(count * half) { break }
            guard Monotonic.now < deadline else {
                throw BenchFailure(description: "not all are under way: \(moved) bytes came")
            }
            usleep(10_000)
        }
        let after = try MemoryUse(of: getpid())
        print("rss-kib \(after.rss)")
        print("each-kib \((Double(after.rss - before.rss) / Double(count)).fixed(3))")
        await bench.end()
    }

    /// Files of 128 KiB one after the other; with `cut`, each comes in two halves.
    func resume() async throws {
        let server = try FileServer(self)
        let bench = try await Engine(in: server.folder)
        let bytes = 128 << 10
        var samples = Samples(reserving: count)
        for number in 1...count {
            let url = server.url("\(bytes)\(words.contains("cut") ? "?cut" : "?")\(number)")
            let request = bench.request(number, .download, url, "\(number)")
            let before = Monotonic.now
            try await bench.carry(request)
            samples.add(Monotonic.now.since(before))
            try server.check("\(number)", bytes: bytes)
        }
        samples.report()
        await bench.end()
    }
}
