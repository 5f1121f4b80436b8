// SPDX-License-Identifier: Apache-2.0

internal import BghostAlerts
internal import BghostBase
internal import BghostModel

/// The messages for one receiver, of which one is under way.
///
/// ``AlertSender`` owns it.
final class AlertTarget {
    /// A number that no other target has.
    let number: UInt64
    let receiver: AlertReceiver
    /// A name for people that no other receiver has; a reload may change it.
    private(set) var label: String
    /// The oldest first; the first is the one under way.
    var queue: [AlertMessage] = []
    /// The attempts to send the first message that have failed.
    var attempts = 0
    /// How many messages were dropped that the receiver does not know of.
    var unreported = 0
    /// How many of them the message under way tells of.
    var reported = 0
    var task: Task<Void, Never>?
    /// Whether its first message waits for the end of a window in which none is sent.
    var isHeld = false
    /// The error of the last attempt; `nil` if it was delivered, or there was none.
    var error: String?
    /// Since when no message is taken, Unix nanoseconds; `nil` if the last one was.
    var failingSince: Int64?
    /// When the last message was taken, Unix nanoseconds.
    var deliveredAt: Int64?

    private init(_ receiver: AlertReceiver, label: String, number: UInt64) {
        self.number = number
        self.receiver = receiver
        self.label = label
    }

    /// Targets for all receivers, with different labels: those of old receivers, wherever they stand now.
    ///
    /// - Parameter last: the last number of a target, which is raised.
    static func targets(
        _ receivers: [AlertReceiver],
        keeping old: [AlertTarget],
        last: inout UInt64
    ) -> [AlertTarget] {
        var old = old
        var labels: [String: Int] = [:]
        return receivers.map { receiver in
            let count = labels[receiver.label, default: 0] + 1
            labels[receiver.label] = count
            let label = count == 1 ? receiver.label : "\(receiver.label) (\(count))"
            guard let index = old.firstIndex(where: { $0.receiver == receiver }) else {
                last += 1
                return AlertTarget(receiver, label: label, number: last)
            }
            let target = old.remove(at: index)
            target.label = label
            return target
        }
    }
}

/// How often and how long a message is tried, nanoseconds.
package struct AlertRetries: Sendable {
    /// The delay after the first failure; it doubles with each further one.
    package var delayMin: UInt64 = 1_000_000_000
    package var delayMax: UInt64 = 300_000_000_000
    /// After so many failures a message is given up, which is after about an hour.
    package var attemptsMax = 20
    /// After so many failures the receiver counts as failing.
    package var failuresMax = 3

    package init() {}

    func delay(after failures: Int) -> UInt64 {
        guard failures > 0 else { return 0 }
        return min(delayMax, delayMin.multipliedClamped(by: 1 << UInt64(min(failures - 1, 32))))
    }
}
