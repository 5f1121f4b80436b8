// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import Glibc

// What a pending request costs in memory, and in and out of it.
extension Subject {
    /// Puts requests for as many identifiers into an index, and takes them out as they come due.
    ///
    /// Prints nanoseconds and bytes for each.
    func pending() throws {
        let dates = Self.dates(count)
        try reportMemory(dates)
        let requests = (0..<count).map { Self.request($0, dates[$0]) }
        var before = Monotonic.now
        var index = PendingRequestIndex(slots: count)
        for request in requests { Self.accept(request, &index) }
        print("insert \(Self.nanosecondsEach(count, since: before))")
        before = Monotonic.now
        var started = 0
        var nothing: Void = ()
        while let due = index.nextDue {
            index.becomeDue(now: due)
            while case .start(_, let entry) = index.next(
                now: due,
                &nothing,
                canStart: { _, _, _ in true }
            ) {
                index.finished(entry: entry, now: due)
                started += 1
            }
        }
        print("fire \(Self.nanosecondsEach(count, since: before))")
        guard started == count else {
            throw BenchFailure(description: "\(started) of \(count) requests began")
        }
    }

    /// No other object has the identifiers here, so their text counts; there are no parameters.
    private func reportMemory(_ dates: [Int64]) throws {
        let empty = try MemoryUse(of: getpid()).dirty
        var index = PendingRequestIndex(slots: count)
        for number in 0..<count { Self.accept(Self.request(number, dates[number]), &index) }
        let kib = try MemoryUse(of: getpid()).dirty - empty
        print("bytes \((Double(kib) * 1024 / Double(count)).fixed(2))")
        guard index.nextDue != nil else { throw BenchFailure(description: "nothing is pending") }
    }

    private static func request(_ number: Int, _ date: Int64) -> Request {
        Request(
            id: RunID(high: 0x0190_0000_0000_0000 + UInt64(number) << 8, low: UInt64(number)),
            task: "org.bghost.bench.\(number)",
            parameters: "{}",
            submittedAt: 1,
            earliestBegin: date,
            priority: 500
        )
    }

    private static func accept(_ request: Request, _ index: inout PendingRequestIndex) {
        let entry = index.entry(for: request.task, definition: 0, overlap: .allow)
        _ = index.accept(request, entry: entry, now: 0)
    }

    private static func nanosecondsEach(_ count: Int, since before: MonotonicInstant) -> String {
        (Double(Monotonic.now.since(before)) / Double(max(1, count))).fixed(2)
    }

    /// Those of the floor: a week of milliseconds in no order.
    private static func dates(_ count: Int) -> [Int64] {
        var seed: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            seed ^= seed << 13
            seed ^= seed >> 7
            seed ^= seed << 17
            return Int64(1 + seed % (7 * 86_400 * 1000)) * 1_000_000
        }
    }
}
