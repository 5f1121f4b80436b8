// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// The alerts of a daemon: what fires, and what the receivers are told about it.
///
/// It is a pure value and reads no clock. An alert that fires is told once, again after each period of `repeat`,
/// and once when it has ended; what ends before it was told is not told at all. A raised or ended condition
/// costs O(log n) in the alerts; a message costs O(n) in the alerts that it is about.
///
/// All times are Unix nanoseconds.
package struct AlertTable: Sendable {
    struct Alert: Sendable {
        let key: AlertKey
        var since: Int64
        var detail: String
        /// Whether its condition holds.
        var isFiring: Bool
        /// When it ended; the last time, if it was raised again meanwhile.
        var endedAt: Int64?
        /// Whether the receivers were told that it fires, and not that it has ended.
        var isTold = false
        /// When it was last told.
        var toldAt: Int64 = 0
        /// When a receiver last took a message that it fires; `nil` if none did.
        var confirmedAt: Int64?
        /// Whether the next message is about it.
        var isNews = false
        /// When it becomes news, if nothing happens before.
        var due: Int64?
        /// The last message about it; while it is under way, there is no other.
        var message: UInt64 = 0
        /// When it began to be told lately, to find alerts that come and go.
        var beginnings: [Int64] = []
        /// Whether the store has a row of it.
        var isStored = false
        /// Recovered, and not found again yet.
        var isUncertain = false
    }

    package private(set) var settings: AlertSettings
    var alerts: [UInt64: Alert] = [:]
    var numbers: [AlertKey: UInt64] = [:]
    var lastNumber: UInt64 = 0
    var dates = TimerHeap()
    /// The alerts that the next message is about, some of which may have nothing to say by then.
    var news: [UInt64] = []
    /// When the next message is sent; `nil` without news.
    var sendAt: Int64?
    var lastMessage: UInt64 = 0
    /// The alerts of messages that are on their way.
    var underWay: [UInt64: [(number: UInt64, state: AlertMessage.Item.State)]] = [:]
    var changes: [AlertChange] = []
    /// The number of alerts that fire, by rule.
    package private(set) var firing: [AlertRule: Int] = [:]
    /// The number of alerts and dates of alerts that events have looked at: their work, which tests count.
    var alertsVisited = 0

    /// How many beginnings within a period of `repeat` are told at once; later ends wait.
    static let beginningsMax = 3
    /// The shortest delay before what no receiver took is told again.
    static let retryMin: Int64 = 60_000_000_000

    package init(_ settings: AlertSettings) { self.settings = settings }

    var repeatPeriod: Int64 { Int64(clamping: settings.repeatPeriod.clampedNanoseconds) }
    var digest: Int64 { Int64(clamping: settings.digest.clampedNanoseconds) }

    /// The number of alerts that fire.
    package var firingCount: Int { firing.values.reduce(0, +) }

    package mutating func apply(_ settings: AlertSettings) { self.settings = settings }

    /// The changes to store since the last call, in their order.
    package mutating func takeChanges() -> [AlertChange] {
        defer { changes = [] }
        return changes
    }

    // MARK: Conditions

    /// A condition holds.
    ///
    /// - Returns: whether it did not hold before.
    @discardableResult
    package mutating func raise(_ key: AlertKey, _ detail: String, now: Int64) -> Bool {
        alertsVisited += 1
        let detail = detail.shortened(toBytes: AlertMessage.detailBytesMax)
        if let number = numbers[key], var alert = alerts[number] {
            alert.detail = detail
            alert.isUncertain = false
            let isNew = !alert.isFiring
            if isNew {
                alert.isFiring = true
                // An end that was not told yet never happened for the receivers.
                if !alert.isTold { alert.since = now }
                count(key.rule, 1)
            }
            alerts[number] = alert
            guard isNew else { return false }
            setDue(number, alert.isTold ? alert.toldAt.addingClamped(repeatPeriod) : nil)
            store(number)
            if !alert.isTold { addNews(number, now: now, after: digest) }
            return true
        }
        lastNumber += 1
        let number = lastNumber
        numbers[key] = number
        alerts[number] = Alert(key: key, since: now, detail: detail, isFiring: true)
        count(key.rule, 1)
        store(number)
        addNews(number, now: now, after: digest)
        return true
    }

    /// A condition no longer holds.
    ///
    /// - Returns: whether it did before.
    @discardableResult
    package mutating func clear(_ key: AlertKey, now: Int64) -> Bool {
        alertsVisited += 1
        guard let number = numbers[key], var alert = alerts[number], alert.isFiring else {
            return false
        }
        alert.isFiring = false
        alert.isUncertain = false
        alert.endedAt = now
        count(key.rule, -1)
        if !alert.isTold {
            alert.isNews = false
            alerts[number] = alert
            setDue(number, nil)
            // The receivers may not learn of its end before this; then they are told again.
            guard underWay[alert.message] == nil else {
                store(number)
                return true
            }
            unstore(number)
            dropIfQuiet(number, now: now)
            return true
        }
        let recent = alert.beginnings.filter { $0 > now.subtractingClamped(repeatPeriod) }
        alert.beginnings = recent
        alerts[number] = alert
        store(number)
        if recent.count >= Self.beginningsMax {
            // It comes and goes: its end counts only if it lasts.
            setDue(number, now.addingClamped(max(digest, repeatPeriod / 4)))
        } else {
            setDue(number, nil)
            addNews(number, now: now, after: digest)
        }
        return true
    }

    /// Ends some alerts, such as those of tasks that the manifest no longer has.
    ///
    /// - Returns: what has ended.
    @discardableResult
    package mutating func clear(now: Int64, where isGone: (AlertKey) -> Bool) -> [AlertKey] {
        alertsVisited += numbers.count
        let gone = numbers.sorted { $0.value < $1.value }.map(\.key).filter(isGone)
        return gone.filter { clear($0, now: now) }
    }

    // MARK: Recovery

    /// Takes over a row of an earlier daemon; ``settle(now:)`` ends those that are not raised until then.
    package mutating func recover(_ row: AlertRow, now: Int64) {
        guard numbers[row.key] == nil else { return }
        guard row.endedAt == nil || row.toldAt != nil else {
            return changes.append(.removed(row.key))
        }
        lastNumber += 1
        let number = lastNumber
        numbers[row.key] = number
        var alert = Alert(
            key: row.key,
            since: row.since,
            detail: row.detail,
            isFiring: row.endedAt == nil,
            endedAt: row.endedAt
        )
        alert.isStored = true
        if let told = row.toldAt {
            alert.isTold = true
            // A date after a step of the clock must not silence it for long.
            alert.toldAt = min(told, now)
            alert.confirmedAt = alert.toldAt
            alert.beginnings = [alert.toldAt]
        }
        alert.isUncertain = alert.isFiring
        if alert.isFiring { count(row.key.rule, 1) }
        alerts[number] = alert
        if alert.isTold, alert.isFiring {
            setDue(number, alert.toldAt.addingClamped(repeatPeriod))
        }
        if !alert.isTold || !alert.isFiring { addNews(number, now: now, after: digest) }
    }

    /// Ends the recovered alerts whose conditions were not found again.
    ///
    /// - Returns: what has ended.
    @discardableResult
    package mutating func settle(now: Int64) -> [AlertKey] {
        let uncertain = Set(alerts.values.filter(\.isUncertain).map(\.key))
        // What has not been tried again yet may still hold.
        return clear(now: now) {
            uncertain.contains($0) && $0.rule != .receiver && !$0.rule.isAboutFleet
        }
    }

    /// Moves all times, because the wall clock was set: the periods between messages do not follow it.
    ///
    /// The cost is O(n log n) in the alerts.
    ///
    /// - Parameter step: how far it was set, nanoseconds.
    package mutating func followClock(by step: Int64) {
        sendAt = sendAt?.addingClamped(step)
        // All dates are armed again below.
        dates = TimerHeap()
        for number in alerts.keys.sorted() {
            alerts[number]?.move(by: step)
            arm(number)
            if alerts[number]?.isStored == true { store(number) }
        }
    }

    // MARK: Helpers

    mutating func addNews(_ number: UInt64, now: Int64, after delay: Int64) {
        let date = now.addingClamped(delay)
        sendAt = min(sendAt ?? .max, date)
        guard alerts[number]?.isNews == false else { return }
        alerts[number]?.isNews = true
        news.append(number)
    }

    /// Sets when an alert becomes news; an earlier date no longer counts.
    ///
    /// - Parameter date: Unix nanoseconds; `nil` for never.
    mutating func setDue(_ number: UInt64, _ date: Int64?) {
        // The heap of dates has no negative ones.
        let date = date.map { max(0, $0) }
        let old = alerts[number]?.due
        guard old != date else { return }
        alerts[number]?.due = date
        if old != nil { dates.forget { [alerts] in alerts[$0]?.due == Int64(clamping: $1) } }
        arm(number)
    }

    mutating func arm(_ number: UInt64) {
        guard let due = alerts[number]?.due else { return }
        dates.insert(deadline: UInt64(max(0, due)), token: number)
    }

    mutating func count(_ rule: AlertRule, _ change: Int) {
        firing[rule, default: 0] += change
    }

    mutating func store(_ number: UInt64) {
        guard let alert = alerts[number] else { return }
        alerts[number]?.isStored = true
        changes.append(
            .kept(
                AlertRow(
                    key: alert.key,
                    since: alert.since,
                    detail: alert.detail,
                    toldAt: alert.confirmedAt,
                    endedAt: alert.isFiring ? nil : alert.endedAt
                )
            )
        )
    }

    mutating func unstore(_ number: UInt64) {
        guard let alert = alerts[number], alert.isStored else { return }
        alerts[number]?.isStored = false
        changes.append(.removed(alert.key))
    }

    /// Forgets an alert that has ended, once its beginnings no longer count.
    mutating func dropIfQuiet(_ number: UInt64, now: Int64) {
        guard let alert = alerts[number], !alert.isFiring, !alert.isTold,
            underWay[alert.message] == nil
        else { return }
        guard let last = alert.beginnings.last, last > now.subtractingClamped(repeatPeriod) else {
            setDue(number, nil)
            alerts[number] = nil
            numbers[alert.key] = nil
            return
        }
        setDue(number, last.addingClamped(repeatPeriod))
    }
}

extension AlertTable.Alert {
    fileprivate mutating func move(by step: Int64) {
        since = since.addingClamped(step)
        endedAt = endedAt?.addingClamped(step)
        toldAt = toldAt.addingClamped(step)
        confirmedAt = confirmedAt?.addingClamped(step)
        due = due.map { max(0, $0.addingClamped(step)) }
        beginnings = beginnings.map { $0.addingClamped(step) }
    }
}
