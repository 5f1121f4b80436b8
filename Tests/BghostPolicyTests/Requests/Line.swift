// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
@testable import BghostPolicy
import Testing

/// A pendingIndex with short names for what tests do to it.
struct Line {
    var pendingIndex = PendingRequestIndex()
    var now: Int64 = 0

    static func id(_ number: Int) -> RunID { RunID(high: 0, low: UInt64(number)) }

    mutating func entry(
        _ identifier: String,
        _ overlap: Overlap = .queue,
        group: Int = 0
    ) -> Int {
        pendingIndex.entry(for: identifier, definition: 0, group: group, overlap: overlap)
    }

    mutating func retry(_ number: Int, _ entry: Int, earliest: Int64) {
        let request = Request(
            id: Self.id(number),
            task: pendingIndex.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now,
            earliestBegin: earliest,
            priority: 500,
            counters: AttemptCounters(failures: 1)
        )
        #expect(pendingIndex.accept(request, entry: entry, now: now) == nil)
    }

    @discardableResult
    mutating func submit(
        _ number: Int,
        _ entry: Int,
        priority: Int = 500,
        earliest: Int64? = nil,
        latest: Int64? = nil,
        isManual: Bool = false
    ) -> Request? {
        let request = Request(
            id: Self.id(number),
            task: pendingIndex.entries[entry].identifier,
            parameters: "{}",
            submittedAt: now,
            earliestBegin: earliest,
            latestBegin: latest,
            priority: priority,
            isManual: isManual
        )
        return pendingIndex.accept(request, entry: entry, now: now)
    }

    /// All that can be done now, in short words.
    mutating func drain(atMost count: Int = .max) -> [String] {
        var done: [String] = []
        while done.count < count,
            let decision = pendingIndex.next(now: now, canStart: { _, _ in true })
        {
            switch decision {
            case .start(let request, _): done.append("start \(request.id.low)")
            case .skipped(let request, _): done.append("skip \(request.id.low)")
            case .missed(let request, _): done.append("missed \(request.id.low)")
            case .paused(let request, _): done.append("paused \(request.id.low)")
            case .served(let request, _): done.append("served \(request.id.low)")
            case .displace: done.append("displace")
            }
        }
        return done
    }
}

extension PendingRequestIndex {
    /// Whether a request with this id is waiting.
    func contains(_ id: RunID) -> Bool {
        entries.indices.contains { entries.isInUse($0) && entries.hasRequest($0, in: id...id) }
    }

    /// The next thing to do, where nothing is kept of what was turned away.
    mutating func next(
        now: Int64,
        canStart: (_ request: Request, _ definition: Int) -> Bool
    ) -> Decision? {
        var nothing: Void = ()
        return next(now: now, &nothing) { request, definition, _ in canStart(request, definition) }
    }
}
