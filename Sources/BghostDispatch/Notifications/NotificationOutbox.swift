// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
package import BghostCalendar
internal import BghostLinux
package import BghostModel
package import BghostNotify
internal import BghostStore

/// The notifications that plugins posted, until they are delivered or expire.
///
/// The host owns it, stores its changes, submits its deliveries, and reports their results. It holds
/// no reference to the host. Use it on the reactor's thread only; it does not block, but for reading
/// a time zone that no notification has named before. Times are Unix nanoseconds.
package final class NotificationOutbox {
    /// A notification that was accepted, and that the host must store before it counts.
    package struct Accepted: Sendable {
        package let row: NotificationRow
        fileprivate let recurrence: Recurrence?
        /// How far the clock had been set when it was accepted.
        fileprivate let clockShift: Int64
    }

    /// A notification whose time zone is unknown now, so that it is delivered once.
    package struct LostRecurrence: Equatable {
        package var plugin: String
        package var fault: NotificationFault
    }

    private var outbox: Outbox
    /// The retry delay that a delivery requested, nanoseconds, until its run is recorded.
    private var retryDelays: [RunID: UInt64] = [:]
    private var ids = RunIDSource()
    private var clockSteps = ClockSteps()
    /// How far the clock was set since the start, nanoseconds.
    private var clockShift: Int64 = 0
    /// The changes that the recovery made, which are not stored yet.
    private var recovered: [OutboxEffect] = []

    private static let zones = SystemZones { try ZoneTable(name: $0, tzif: $1) }

    package init(_ settings: NotificationSettings) {
        outbox = Outbox(settings)
    }

    // MARK: Recovery

    /// Takes over the notifications that the previous daemon stored.
    ///
    /// - Parameters:
    ///   - requests: the requests of the delivering task that still wait.
    ///   - zone: the zone of notifications that name none.
    /// - Returns: the notifications that are not repeated any more.
    package func recover(
        _ rows: [NotificationRow],
        _ requests: [Request],
        zone: ZoneTable,
        now: Int64
    ) -> [LostRecurrence] {
        var lost: [LostRecurrence] = []
        for row in rows {
            var recurrence: Recurrence?
            do throws(NotificationFault) {
                // The clock may have been set since it was posted; its date was moved with it.
                recurrence = try Self.recurrence(row.content, anchor: row.due, zone: zone)
            } catch {
                // The system may lack its time zone now: deliver it once, without repetition.
                lost.append(LostRecurrence(plugin: row.plugin, fault: error))
            }
            outbox.restore(row, recurrence: recurrence, now: now, &recovered)
        }
        for request in requests {
            // A request that an operator submitted has no key and delivers no notification.
            let parameters = try? JSONReader.parse(request.parameters)
            guard let key = parameters?["key"]?.string else { continue }
            outbox.adopt(request: request.id, task: request.task, key: key)
        }
        return lost
    }

    // MARK: Posting

    /// Accepts a notification; the host stores its row and then calls ``stored(_:isStored:)``.
    ///
    /// - Parameter zone: its zone, if it names none.
    package func accept(
        _ content: NotificationContent,
        of plugin: String,
        zone: ZoneTable,
        now: Int64
    ) throws(NotificationFault) -> Accepted {
        let recurrence = try Self.recurrence(
            content,
            anchor: content.at == 0 ? now : content.at,
            zone: zone
        )
        let row = try outbox.accept(
            content,
            of: plugin,
            recurrence: recurrence,
            key: makeKey(now: now),
            token: Self.makeToken(),
            now: now
        )
        return Accepted(row: row, recurrence: recurrence, clockShift: clockShift)
    }

    /// Records whether the store has an accepted notification.
    package func stored(_ accepted: Accepted, isStored: Bool, now: Int64) -> [OutboxEffect] {
        var effects: [OutboxEffect] = []
        outbox.finishPost(
            accepted.row,
            recurrence: accepted.recurrence,
            isStored: isStored,
            &effects
        )
        let step = clockShift.subtractingClamped(accepted.clockShift)
        if isStored, step != 0 {
            outbox.followClock(accepted.row.key, by: step, now: now, &effects)
        }
        return effects
    }

    /// Withdraws a notification that is not delivered yet.
    ///
    /// - Returns: `nil` if there is none.
    package func withdraw(_ id: String, of plugin: String) -> [OutboxEffect]? {
        var effects: [OutboxEffect] = []
        return outbox.withdraw(id, of: plugin, &effects) ? effects : nil
    }

    // MARK: Deliveries

    /// The next date on which ``advance(now:)`` has something to do; `nil` for none.
    package var nextDate: Int64? { outbox.nextDate }

    /// Makes the next ``advance(now:)`` compare all dates, because the clock was set or one has come.
    package func compareDates() { outbox.touch() }

    /// Moves what counts from an event if the wall clock was set.
    ///
    /// Call it before each event that has a time. It is cheap if the clock was not set, and O(n) in the
    /// notifications if it was.
    package func followClock(_ now: Moment) -> [OutboxEffect] {
        guard let step = clockSteps.step(at: now) else { return [] }
        clockShift = clockShift.addingClamped(step)
        var effects: [OutboxEffect] = []
        outbox.followClock(by: step, now: now.unix, &effects)
        return effects
    }

    /// Whether ``advance(now:)`` has something to do.
    var isStale: Bool { outbox.isStale }

    /// Whether a request delivers a notification.
    func knows(_ request: RunID) -> Bool { outbox.knows(request: request) }

    /// Starts the deliveries that are due.
    ///
    /// Call it again until it returns `nil`, because its effects may change the outbox.
    ///
    /// - Returns: `nil` if nothing has changed since the last call.
    package func advance(now: Int64) -> [OutboxEffect]? {
        guard outbox.isStale else { return nil }
        var effects = recovered
        recovered = []
        // Use a copy in the closure, because `advance` has exclusive access to the outbox.
        var ids = ids
        outbox.advance(now: now, key: { Self.makeKey(&ids, now: now) }, &effects)
        self.ids = ids
        return effects
    }

    /// Records the request that delivers a notification.
    package func submitted(_ key: RunID, request: RunID) { outbox.submitted(key, request: request) }

    /// Records that the request of a delivery was refused.
    ///
    /// - Parameter isFull: whether the task has too many requests, which is no fault of the delivery.
    func refused(_ key: RunID, _ message: String, isFull: Bool, now: Int64) -> [OutboxEffect] {
        var effects: [OutboxEffect] = []
        outbox.refused(key, message, isFull: isFull, now: now, random: Self.random, &effects)
        return effects
    }

    /// Keeps the delay that a handler requested before the next attempt; the run's record lacks it.
    ///
    /// - Parameter delay: nanoseconds; `nil` if the handler requested none.
    package func noteRetry(of request: RunID, after delay: UInt64?) {
        guard let delay, outbox.knows(request: request) else { return }
        retryDelays[request] = delay
    }

    /// Records the end of a run.
    ///
    /// - Parameter isRetried: whether the task's retry policy repeats the run; asked only for a run
    ///   that delivered a notification, because most runs do not.
    package func ended(
        _ record: RunRecord,
        isRetried: @autoclosure () -> Bool,
        now: Int64
    ) -> [OutboxEffect] {
        guard outbox.knows(request: record.request) else { return [] }
        let delay = retryDelays.removeValue(forKey: record.request)
        guard !isRetried() else { return [] }
        let outcome = record.outcome?.text ?? "lost"
        return ended(
            record.request,
            DeliveryEnd(
                succeeded: record.outcome == .succeeded,
                message: record.message.isEmpty ? outcome : "\(outcome): \(record.message)",
                retryAfter: delay
            ),
            now: now
        )
    }

    /// Records that a request was withdrawn before its run.
    package func withdrawn(_ request: RunID, now: Int64) -> [OutboxEffect] {
        guard outbox.knows(request: request) else { return [] }
        return ended(
            request,
            DeliveryEnd(succeeded: false, message: "it was withdrawn"),
            now: now
        )
    }

    private func ended(_ request: RunID, _ end: DeliveryEnd, now: Int64) -> [OutboxEffect] {
        var effects: [OutboxEffect] = []
        outbox.ended(request: request, end, now: now, random: Self.random, &effects)
        return effects
    }

    // MARK: Questions

    /// All notifications, the oldest first.
    package var statuses: [NotificationStatus] {
        outbox.rows.map { NotificationStatus($0, isUnderWay: outbox.isUnderWay($0.key)) }
    }

    /// The notifications with an id, of one plugin or of all.
    package func find(id: String, plugin: String?) -> [NotificationRow] {
        outbox.find(id: id, plugin: plugin)
    }

    /// The notification that a link belongs to.
    package func find(token: String) -> NotificationRow? { outbox.find(token: token) }

    /// The ids of all notifications, as operators see them.
    var publicIDs: [String] { outbox.rows.map(\.publicID) }

    /// Whether a delivery of a notification is in progress.
    package func isUnderWay(_ key: RunID) -> Bool { outbox.isUnderWay(key) }

    /// The waiting notifications of a plugin, as a JSON array.
    package func pending(of plugin: String) -> String { outbox.pending(of: plugin) }

    // MARK: Keys and random numbers

    /// A unique key, for a notification or for the answer to one.
    package func makeKey(now: Int64) -> RunID { Self.makeKey(&ids, now: now) }

    private static func makeKey(_ ids: inout RunIDSource, now: Int64) -> RunID {
        var random = SystemRandomNumberGenerator()
        return ids.next(unixMilliseconds: UInt64(clamping: now / 1_000_000)) { random.next() }
    }

    /// A secret token for the links of a notification.
    private static func makeToken() -> String {
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let bytes = (0..<Outbox.tokenBytes).map { _ in digits[Int(random.next() & 15)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func random(below limit: UInt64) -> UInt64 {
        limit == 0 ? 0 : UInt64.random(in: 0..<limit)
    }

    /// The recurrence of a notification; `nil` if it is delivered once.
    ///
    /// - Parameter anchor: one of the times of an interval, Unix nanoseconds.
    private static func recurrence(
        _ content: NotificationContent,
        anchor: Int64,
        zone: ZoneTable
    ) throws(NotificationFault) -> Recurrence? {
        do {
            if !content.calendar.isEmpty {
                let expression = try CalendarExpression(content.calendar)
                let zone = content.timeZone.isEmpty ? zone : try zones.zone(content.timeZone)
                return try .calendar(
                    expression,
                    zone: zone,
                    minInterval: NotificationContent.everyMin
                )
            }
            guard content.every > 0 else { return nil }
            return try .every(
                content.every,
                anchor: anchor,
                minInterval: NotificationContent.everyMin
            )
        } catch {
            let zone = content.timeZone.isEmpty ? "" : " in time zone `\(content.timeZone)`"
            throw NotificationFault(.bad, "it cannot be repeated like this\(zone): \(error)")
        }
    }
}
