// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The alerts that fire, for people.
extension AlertTable {
    /// An alert for people.
    package struct Status: Equatable, Sendable {
        package var key: AlertKey
        package var since: Int64
        package var detail: String
        /// When a receiver last took a message about it; `nil` if none did.
        package var toldAt: Int64?
    }

    /// The alerts that fire, the oldest first.
    package var statuses: [Status] {
        alerts.values.filter(\.isFiring).sorted { $0.isBefore($1) }.map(\.status)
    }

    /// Some of the alerts that fire, the oldest first.
    ///
    /// The cost is O(n) in the alerts.
    ///
    /// - Parameter most: how many at most, from 1.
    package func oldest(_ most: Int) -> [Status] {
        var oldest: [Alert] = []
        for alert in alerts.values where alert.isFiring {
            if oldest.count >= most {
                guard let last = oldest.last, alert.isBefore(last) else { continue }
                oldest.removeLast()
            }
            oldest.insert(alert, at: oldest.firstIndex { alert.isBefore($0) } ?? oldest.count)
        }
        return oldest.map(\.status)
    }
}

extension AlertTable.Alert {
    /// Whether it is listed before another one.
    fileprivate func isBefore(_ other: Self) -> Bool {
        guard since == other.since else { return since < other.since }
        return (key.rule.rawValue, key.subject) < (other.key.rule.rawValue, other.key.subject)
    }

    fileprivate var status: AlertTable.Status {
        AlertTable.Status(key: key, since: since, detail: detail, toldAt: confirmedAt)
    }
}
