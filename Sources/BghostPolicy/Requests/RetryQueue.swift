// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The requests of one identifier that have had a run and wait for another one.
///
/// A task that fails each second and waits for hours before its next attempt has thousands of them, so
/// adding one, removing one and finding the next one cost O(log n). Each is in one heap by its date until the
/// date has come, and in another by its rank from then on; `advance` moves it between them.
struct RetryQueue: Sendable {
    private struct Slot: Sendable {
        var place: RequestPlace?
        /// Distinguishes the requests that use the slot one after the other.
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    /// Those whose earliest date is after `instant`, by that date.
    private var future = TimerHeap()
    /// The others, by their rank.
    private var due = TimerHeap()
    /// Those with a latest date that has not passed at `instant`, by that date.
    private var ends = TimerHeap()
    /// Those that were missed at `instant`, by their rank.
    private var missed = TimerHeap()
    /// The time to which `advance` has moved the requests, Unix nanoseconds.
    private var instant = Int64.min
    /// The number of requests that moved between heaps: the work, which tests count.
    private(set) var moves = 0

    /// The number of requests.
    var count: Int { slots.count - free.count }

    var isEmpty: Bool { count == 0 }

    /// The requests, in no order.
    var all: some Sequence<RequestPlace> { slots.lazy.compactMap(\.place) }

    subscript(slot: Int) -> RequestPlace? { slots[slot].place }

    mutating func append(_ place: RequestPlace) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].place = place
        insert(place, slot)
    }

    @discardableResult
    mutating func remove(_ slot: Int) -> RequestPlace? {
        guard let place = slots[slot].place else { return nil }
        slots[slot].place = nil
        slots[slot].generation &+= 1
        free.append(slot)
        let isLive = liveness
        if isDue(place) {
            due.forget(isLive: isLive)
        } else {
            future.forget(isLive: isLive)
        }
        if isMissed(place) {
            missed.forget(isLive: isLive)
        } else if place.dates.latest != nil {
            ends.forget(isLive: isLive)
        }
        return place
    }

    /// Replaces requests, whose dates and ranks may differ; the cost is O(n).
    mutating func replace(_ change: (RequestPlace) -> RequestPlace?) {
        for index in slots.indices {
            guard let place = slots[index].place.flatMap(change) else { continue }
            slots[index].place = place
        }
        rebuild()
    }

    // MARK: The next request

    /// Notes the dates that have come.
    ///
    /// The cost is O(log n) for each of them, and O(n) if the time is before that of the last call.
    ///
    /// - Parameter now: Unix nanoseconds.
    mutating func advance(to now: Int64) {
        guard now >= instant else {
            instant = now
            return rebuild()
        }
        instant = now
        let isLive = liveness
        while let token = future.popDue(now: Self.key(now), isLive: isLive) {
            guard let place = slots[Self.slot(token)].place else { continue }
            moves += 1
            due.insert(deadline: place.rank, token: token)
        }
        while let end = ends.first(isLive: isLive), end.deadline < Self.key(now) {
            // It is `end`.
            _ = ends.popFirst(isLive: isLive)
            moves += 1
            guard let place = slots[Self.slot(end.token)].place else { continue }
            missed.insert(deadline: place.rank, token: end.token)
        }
    }

    /// The request that would start next if nothing blocked it: the due or missed one with the lowest rank.
    ///
    /// Call `advance` first.
    ///
    /// - Parameter delayedUntil: until when its identifier is held; missed requests are not.
    /// - Returns: its slot.
    mutating func first(delayedUntil: Int64?) -> Int? {
        let isLive = liveness
        let late = missed.first(isLive: isLive)
        guard delayedUntil ?? .min <= instant, let next = due.first(isLive: isLive) else {
            return late.map { Self.slot($0.token) }
        }
        guard let late, late.deadline < next.deadline else { return Self.slot(next.token) }
        return Self.slot(late.token)
    }

    /// The next date on which a request may start or becomes missed; `nil` if there is none.
    ///
    /// Call `advance` first.
    mutating func nextDate(delayedUntil: Int64?) -> Int64? {
        let isLive = liveness
        var next: Int64?
        func note(_ date: Int64) { next = min(next ?? date, date) }
        let hold = delayedUntil.flatMap { $0 > instant ? $0 : nil }
        if let begin = future.first(isLive: isLive).flatMap({
            slots[Self.slot($0.token)].place?.begin
        }) {
            note(max(begin, hold ?? .min))
        }
        if let hold, due.first(isLive: isLive) != nil { note(hold) }
        if let end = ends.first(isLive: isLive), end.deadline < Int64.max {
            note(Int64(end.deadline) + 1)
        }
        return next
    }

    // MARK: Heaps

    private mutating func insert(_ place: RequestPlace, _ slot: Int) {
        let token = UInt64(slots[slot].generation) << 32 | UInt64(slot)
        if isDue(place) {
            due.insert(deadline: place.rank, token: token)
        } else {
            future.insert(deadline: Self.key(place.begin), token: token)
        }
        if isMissed(place) {
            missed.insert(deadline: place.rank, token: token)
        } else if let latest = place.dates.latest {
            ends.insert(deadline: Self.key(latest), token: token)
        }
    }

    private mutating func rebuild() {
        (future, due, ends, missed) = (TimerHeap(), TimerHeap(), TimerHeap(), TimerHeap())
        for index in slots.indices {
            guard let place = slots[index].place else { continue }
            moves += 1
            insert(place, index)
        }
    }

    private var liveness: (_ token: UInt64, _ deadline: UInt64) -> Bool {
        { [slots] token, _ in
            let slot = slots[Self.slot(token)]
            return slot.place != nil && slot.generation == UInt32(token >> 32)
        }
    }

    private func isDue(_ place: RequestPlace) -> Bool {
        Self.key(place.begin) <= Self.key(instant)
    }

    private func isMissed(_ place: RequestPlace) -> Bool {
        place.dates.latest.map { Self.key($0) < Self.key(instant) } ?? false
    }

    private static func slot(_ token: UInt64) -> Int { Int(token & 0xFFFF_FFFF) }

    /// The key of a date in a heap; dates before 1970 are one.
    private static func key(_ date: Int64) -> UInt64 { UInt64(max(0, date)) }
}
