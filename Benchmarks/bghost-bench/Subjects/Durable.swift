// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostStore
internal import Glibc
internal import Synchronization

// What it costs to keep a request, against SQLite alone with the same payload.
extension Subject {
    /// A store of its own, without anything in it, beside the floor's.
    private func emptyStore() throws -> SQLiteStore {
        let folder = files + "/store"
        mkdir(folder, 0o755)
        let path = folder + "/own.db"
        for suffix in ["", "-wal", "-shm", "-lock"] { unlink(path + suffix) }
        return try SQLiteStore(path: path)
    }

    /// From a commit to its answer, with nothing else under way.
    func durableLone() throws {
        let store = try emptyStore()
        var samples = Samples(reserving: count)
        let answered = try Gate()
        for number in 0..<count {
            let request = BenchRequest.make(number)
            let before = Monotonic.now
            store.commit([.accepted(request, replacing: nil)]) { result in
                if case .success = result { answered.open() }
            }
            try answered.wait()
            samples.add(Monotonic.now.since(before))
        }
        store.close()
        samples.report()
    }

    /// As many under way all the time as the first word says; `life` has each request begin and end
    /// a run, and counts those whose outcome is kept.
    func durableFlight() throws {
        let window = words.first.flatMap { Int($0) } ?? 64
        let store = try emptyStore()
        let flight = try Flight(store, count, isWholeLife: words.contains("life"))
        let before = Monotonic.now
        try flight.run(window)
        Self.rate(count, since: before)
        store.close()
    }
}

/// Each answer begins the next commit, so that as many are under way all the time.
private final class Flight: Sendable {
    private struct Count {
        var begun = 0
        var left: Int
    }

    private let store: SQLiteStore
    private let total: Int
    private let isWholeLife: Bool
    private let numbers: Mutex<Count>
    private let ended: Gate

    init(_ store: SQLiteStore, _ total: Int, isWholeLife: Bool) throws {
        ended = try Gate()
        self.store = store
        self.total = total
        self.isWholeLife = isWholeLife
        numbers = Mutex(Count(left: total))
    }

    func run(_ window: Int) throws {
        for _ in 0..<window { step() }
        try ended.wait()
    }

    private func step() {
        let number = numbers.withLock { numbers in
            defer { numbers.begun += 1 }
            return numbers.begun
        }
        guard number < total else { return }
        let request = BenchRequest.make(number, task: "bench.\(number % 64)")
        store.commit([.accepted(request, replacing: nil)]) { [self] result in
            guard case .success = result else { return }
            if isWholeLife { runAtOnce(request) } else { done() }
        }
    }

    /// That it began is kept before its end, which alone is waited for: as the host does it.
    private func runAtOnce(_ request: Request) {
        var record = BenchRequest.run(of: request)
        store.commit([.runStarted(record)], isAwaited: false) { _ in }
        record.state = .ended
        record.outcome = .succeeded
        record.endedAt = request.submittedAt
        store.commit([.runEnded(record, then: .consumed)]) { [self] result in
            if case .success = result { done() }
        }
    }

    private func done() {
        let left = numbers.withLock { numbers in
            numbers.left -= 1
            return numbers.left
        }
        if left == 0 { ended.open() } else { step() }
    }
}

/// Opened by one thread, waited for by another.
private final class Gate: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws {
        (reading, writing) = try Pipe.make()
    }

    deinit {
        close(reading)
        close(writing)
    }

    func open() {
        var one: UInt8 = 1
        _ = write(writing, &one, 1)
    }

    func wait() throws {
        var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 50_000) == 1 else {
            throw BenchFailure(description: "a commit is not answered, or was refused")
        }
        var one: UInt8 = 0
        _ = read(reading, &one, 1)
    }
}

/// Requests and runs as the floors have them: 200 bytes of payload.
enum BenchRequest {
    private static let payload = #"{"note":""# + String(repeating: "p", count: 189) + #""}"#
    /// The year 2027, in which nothing of it begins.
    static let epoch: Int64 = 1_800_000_000_000_000_000

    static func make(
        _ number: Int,
        task: String? = nil,
        parameters: String = payload
    ) -> Request {
        Request(
            id: RunID(high: 0x0190_0000_0000_0000 + UInt64(number) << 8, low: UInt64(number)),
            task: task ?? "bench.\(number)",
            parameters: parameters,
            submittedAt: 1_700_000_000_000_000_000 + Int64(number),
            earliestBegin: epoch + Int64(number),
            priority: 500
        )
    }

    static func run(of request: Request) -> RunRecord {
        RunRecord(
            id: RunID(high: request.id.high | 1 << 60, low: request.id.low),
            request: request.id,
            task: request.task,
            plugin: "bench",
            epoch: 1,
            limits: RunLimits(kind: .refresh),
            submittedAt: request.submittedAt
        )
    }
}
