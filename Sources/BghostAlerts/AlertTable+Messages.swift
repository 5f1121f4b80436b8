// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// What the receivers are told.
extension AlertTable {
    /// When to call ``advance(now:mutedUntil:)`` next; `nil` if nothing waits.
    package mutating func nextDate(mutedUntil: Int64?) -> Int64? {
        var visited = 0
        let due = dates.first { [alerts] in
            visited += 1
            return alerts[$0]?.due == Int64(clamping: $1)
        }
        alertsVisited += visited
        var next = due.map { Int64(clamping: $0.deadline) }
        if let sendAt {
            let date = max(sendAt, mutedUntil ?? .min)
            next = min(next ?? .max, date)
        }
        return next
    }

    /// The message that is due; `nil` if there is none.
    ///
    /// - Parameter mutedUntil: when the window ends in which nothing is sent; `nil` if none is open.
    package mutating func advance(now: Int64, mutedUntil: Int64?) -> AlertMessage? {
        var visited = 0
        defer { alertsVisited += visited }
        while let number = dates.popDue(
            now: UInt64(max(0, now)),
            isLive: { [alerts] in
                visited += 1
                return alerts[$0]?.due == Int64(clamping: $1)
            }
        ) {
            alerts[number]?.due = nil
            guard let alert = alerts[number] else { continue }
            if alert.isFiring || alert.isTold {
                addNews(number, now: now, after: 0)
            } else {
                dropIfQuiet(number, now: now)
            }
        }
        guard let date = sendAt, date <= now, mutedUntil.map({ $0 <= now }) ?? true else {
            return nil
        }
        sendAt = nil
        return message(now: now)
    }

    mutating func message(now: Int64) -> AlertMessage? {
        let numbers = news
        news = []
        alertsVisited += numbers.count
        var items: [AlertMessage.Item] = []
        var told: [(number: UInt64, state: AlertMessage.Item.State)] = []
        lastMessage += 1
        for number in numbers {
            guard let alert = alerts[number], alert.isNews else { continue }
            alerts[number]?.isNews = false
            guard underWay[alert.message] == nil, let state = state(of: alert, now: now) else {
                continue
            }
            told.append((number, state))
            if items.count < AlertMessage.itemsMax {
                items.append(
                    AlertMessage.Item(
                        key: alert.key,
                        state: state,
                        since: alert.since,
                        endedAt: alert.isFiring ? nil : alert.endedAt,
                        detail: alert.detail
                    )
                )
            }
            note(state, number, now: now)
        }
        guard !told.isEmpty else { return nil }
        underWay[lastMessage] = told
        return AlertMessage(
            number: lastMessage,
            items: items,
            omitted: told.count - items.count,
            firing: firingCount,
            at: now
        )
    }

    /// What has to be said about an alert; `nil` for nothing.
    func state(of alert: Alert, now: Int64) -> AlertMessage.Item.State? {
        switch (alert.isFiring, alert.isTold) {
        case (true, false): .firing
        case (true, true): now >= alert.toldAt.addingClamped(repeatPeriod) ? .still : nil
        case (false, true): .resolved
        case (false, false): nil
        }
    }

    mutating func note(_ state: AlertMessage.Item.State, _ number: UInt64, now: Int64) {
        let (message, repeatDue) = (lastMessage, now.addingClamped(max(repeatPeriod, 1)))
        alerts[number]?.message = message
        switch state {
        case .firing, .still:
            if state == .firing { alerts[number]?.beginnings.append(now) }
            alerts[number]?.isTold = true
            alerts[number]?.toldAt = now
            setDue(number, repeatDue)
        case .resolved:
            alerts[number]?.isTold = false
            setDue(number, nil)
        }
    }

    /// A receiver took a message, or none did and the daemon has given up.
    package mutating func ended(message: UInt64, isDelivered: Bool, now: Int64) {
        guard let told = underWay.removeValue(forKey: message) else { return }
        alertsVisited += told.count
        for (number, state) in told {
            if isDelivered {
                confirm(number, state, now: now)
            } else {
                takeBack(number, state, now: now)
            }
            // What has changed meanwhile has waited for this.
            guard let alert = alerts[number], alert.isFiring || alert.due == nil,
                self.state(of: alert, now: now) != nil
            else { continue }
            addNews(number, now: now, after: isDelivered ? digest : max(digest, Self.retryMin))
        }
    }

    /// The receivers know what they knew before a message.
    mutating func takeBack(
        _ number: UInt64,
        _ state: AlertMessage.Item.State,
        now: Int64
    ) {
        alerts[number]?.isTold = state != .firing
        switch state {
        case .firing:
            _ = alerts[number]?.beginnings.popLast()
            setDue(number, nil)
            guard alerts[number]?.isFiring == false else { return }
            unstore(number)
            dropIfQuiet(number, now: now)
        case .still:
            // It is told again although its period has not passed.
            alerts[number]?.toldAt = .min
        case .resolved:
            // It fires again, and the receivers never knew that it did not.
            guard let alert = alerts[number], alert.isFiring else { return }
            setDue(number, alert.toldAt.addingClamped(repeatPeriod))
        }
    }

    mutating func confirm(
        _ number: UInt64,
        _ state: AlertMessage.Item.State,
        now: Int64
    ) {
        guard let alert = alerts[number] else { return }
        if state == .resolved {
            alerts[number]?.confirmedAt = nil
            guard !alert.isFiring, !alert.isTold else { return store(number) }
            unstore(number)
            dropIfQuiet(number, now: now)
        } else {
            alerts[number]?.confirmedAt = now
            if alert.isTold { store(number) }
        }
    }
}
