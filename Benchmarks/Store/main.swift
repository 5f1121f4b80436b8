// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostStore
import Glibc
import Synchronization

// store-bench FOLDER: the store against SQLite itself, in turns, so that both meet the same disk.

let folder = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "."
let payload = #"{"note":""# + String(repeating: "x", count: 190) + #""}"#

func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func request(_ number: Int) -> Request {
    Request(
        id: RunID(high: 0x0190_0000_0000_0000 + UInt64(number) << 8, low: UInt64(number)),
        task: "com.example.noop",
        parameters: payload,
        submittedAt: 1_800_000_000_000_000_000 + Int64(number),
        earliestBegin: 1_800_000_000_000_000_000 + Int64(number * 7919 % 100_000),
        priority: 500
    )
}

func median(_ values: [Int64]) -> Int64 { values.sorted()[values.count / 2] }

func percentile(_ values: [Int64], _ part: Double) -> Int64 {
    values.sorted()[Int(Double(values.count - 1) * part)]
}

final class Gate: @unchecked Sendable {
    let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    init() { sem_init(handle, 0, 0) }
    func open() { sem_post(handle) }
    func wait() { while sem_wait(handle) != 0 {} }
}

/// Commit to completion, with nothing else under way.
func lone(_ store: SQLiteStore, _ raw: RawStore, _ count: Int) {
    var ours: [Int64] = []
    var floor: [Int64] = []
    let gate = Gate()
    let end = Mutex<Int64>(0)
    for number in 0..<count {
        var start = nanoseconds()
        raw.transaction(number..<number + 1)
        floor.append(nanoseconds() - start)
        let request = request(number)
        start = nanoseconds()
        store.commit([.accepted(request, replacing: nil)]) { _ in
            let now = nanoseconds()
            end.withLock { $0 = now }
            gate.open()
        }
        gate.wait()
        ours.append(end.withLock { $0 } - start)
    }
    print(
        "lone: raw p50 \(median(floor) / 1000) us p99 \(percentile(floor, 0.99) / 1000),",
        "store p50 \(median(ours) / 1000) us p99 \(percentile(ours, 0.99) / 1000),",
        "ratio \(Double(median(ours)) / Double(median(floor)))"
    )
}

/// Each completion begins the next commit, so that as many are under way all the time.
final class Flight: Sendable {
    let store: SQLiteStore
    let next: Mutex<Int>
    let left: Atomic<Int>
    let last: Int
    let life: Bool
    let gate = Gate()

    init(_ store: SQLiteStore, _ range: Range<Int>, life: Bool) {
        self.store = store
        self.life = life
        next = Mutex(range.lowerBound)
        left = Atomic(range.count)
        last = range.upperBound
    }

    func step() {
        let number = next.withLock { next in
            defer { next += 1 }
            return next
        }
        guard number < last else { return }
        let request = request(number)
        store.commit([.accepted(request, replacing: nil)]) { [self] _ in
            if life { begin(request) } else { done() }
        }
    }

    /// The run begins at once: that it did is kept before its end, which alone is waited for.
    func begin(_ request: Request) {
        var record = RunRecord(
            id: RunID(high: request.id.high | 1 << 60, low: request.id.low),
            request: request.id,
            task: request.task,
            plugin: "noop",
            epoch: 1,
            limits: RunLimits(kind: .refresh),
            submittedAt: request.submittedAt
        )
        store.commit([.began(record)]) { _ in }
        record.state = .ended
        record.outcome = .succeeded
        record.endedAt = request.submittedAt
        store.commit([.ended(record, then: .consumed)]) { [self] _ in done() }
    }

    func done() {
        if left.subtract(1, ordering: .relaxed).newValue == 0 { gate.open() } else { step() }
    }

    func run(_ window: Int) -> Double {
        let count = left.load(ordering: .relaxed)
        let start = nanoseconds()
        for _ in 0..<window { step() }
        gate.wait()
        return Double(count) * 1e9 / Double(nanoseconds() - start)
    }
}

func inFlight(_ store: SQLiteStore, _ raw: RawStore) {
    var next = 1_000_000
    for window in [1, 8, 64, 512] {
        var floors: [Double] = []
        var rates: [Double] = []
        var lives: [Double] = []
        let count = window * 150
        for _ in 0..<5 {
            let start = nanoseconds()
            for batch in 0..<150 { raw.transaction(batch * window..<(batch + 1) * window) }
            floors.append(Double(count) * 1e9 / Double(nanoseconds() - start))
            rates.append(Flight(store, next..<next + count, life: false).run(window))
            next += count
            lives.append(Flight(store, next..<next + count, life: true).run(window))
            next += count
        }
        let floor = floors.sorted()[2]
        let rate = rates.sorted()[2]
        let life = lives.sorted()[2]
        print(
            "\(window) in flight: raw \(Int(floor))/s, store \(Int(rate))/s,",
            "ratio \(rate / floor);",
            "whole life \(Int(life))/s, ratio \(life / floor)"
        )
    }
}

func recovery(_ pending: Int) throws {
    let path = folder + "/pending-\(pending).db"
    let store = try SQLiteStore(path: path)
    let gate = Gate()
    for start in stride(from: 0, to: pending, by: 1000) {
        let changes = (start..<min(start + 1000, pending))
            .map { StoreChange.accepted(request($0), replacing: nil) }
        store.commit(changes) { _ in gate.open() }
        gate.wait()
    }
    store.close()
    var scans: [Int64] = []
    var opens: [Int64] = []
    for _ in 0..<3 {
        var start = nanoseconds()
        guard RawStore.scan(path: path, table: "request") == pending else { fatalError("scan") }
        scans.append(nanoseconds() - start)
        start = nanoseconds()
        let store = try SQLiteStore(path: path)
        guard try store.recover().pending.count == pending else { fatalError("recover") }
        opens.append(nanoseconds() - start)
        store.close()
    }
    print(
        "\(pending) pending: scan \(median(scans) / 1_000_000) ms,",
        "open and recover \(median(opens) / 1_000_000) ms,",
        "ratio \(Double(median(opens)) / Double(median(scans)))"
    )
}

let raw = RawStore(path: folder + "/raw.db", payload: payload)
let store = try SQLiteStore(path: folder + "/store.db")
lone(store, raw, 3000)
inFlight(store, raw)
store.close()
for pending in [1000, 10_000, 100_000, 1_000_000] { try recovery(pending) }
