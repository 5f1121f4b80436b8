// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// What the receivers are told at one time.
package struct AlertMessage: Equatable, Sendable {
    /// One alert in a message.
    package struct Item: Equatable, Sendable {
        /// What is said about an alert.
        package enum State: String, Equatable, Sendable {
            /// It fires, and the receivers do not know that yet.
            case firing
            /// It has been firing for a period of `repeat`.
            case still
            case resolved
        }

        package var key: AlertKey
        package var state: State
        /// Since when it fires, Unix nanoseconds.
        package var since: Int64
        /// When it ended, Unix nanoseconds; `nil` while it fires.
        package var endedAt: Int64?
        /// What was found, a clause without a full stop.
        package var detail: String

        package init(
            key: AlertKey,
            state: State,
            since: Int64,
            endedAt: Int64? = nil,
            detail: String
        ) {
            self.key = key
            self.state = state
            self.since = since
            self.endedAt = endedAt
            self.detail = detail
        }
    }

    /// Rises with each message since the start of the daemon, from 1; 0 for a test.
    package var number: UInt64
    /// At most ``itemsMax``.
    package var items: [Item]
    /// How many alerts the message does not list.
    package var omitted: Int
    /// How many alerts fire, whether listed or not.
    package var firing: Int
    /// When it was made, Unix nanoseconds.
    package var at: Int64

    /// The most alerts that a message lists.
    package static let itemsMax = 50
    /// The most bytes of one detail.
    package static let detailBytesMax = 1024

    package init(number: UInt64, items: [Item], omitted: Int = 0, firing: Int, at: Int64) {
        self.number = number
        self.items = items
        self.omitted = omitted
        self.firing = firing
        self.at = at
    }

    package static func test(at now: Int64) -> AlertMessage {
        AlertMessage(number: 0, items: [], firing: 0, at: now)
    }

    package var isTest: Bool { number == 0 }

    /// Whether it says that an alert fires.
    package var isAlarming: Bool { items.contains { $0.state != .resolved } }
}

/// A message as text.
package struct AlertText: Sendable {
    private let message: AlertMessage
    private let host: String
    private let dropped: Int

    /// - Parameters:
    ///   - host: the name of the machine.
    ///   - dropped: how many earlier messages the receiver did not get.
    package init(_ message: AlertMessage, host: String, dropped: Int = 0) {
        self.message = message
        self.host = host
        self.dropped = dropped
    }

    /// One line.
    package var title: String {
        guard !message.isTest else { return "bghost on \(host): a test" }
        let fires = message.items.filter { $0.state != .resolved }
        let resolved = message.items.count - fires.count
        if fires.count == 1, resolved == 0, message.omitted == 0 {
            return "bghost on \(host): " + Self.subject(fires[0].key)
        }
        if fires.isEmpty, resolved == 1, message.omitted == 0 {
            return "bghost on \(host): resolved: " + Self.subject(message.items[0].key)
        }
        var parts: [String] = []
        if !fires.isEmpty { parts.append(CountText.of(fires.count, "alert")) }
        if resolved > 0 { parts.append("\(resolved) resolved") }
        if message.omitted > 0 { parts.append("\(message.omitted) more") }
        return "bghost on \(host): " + parts.joined(separator: ", ")
    }

    /// Several lines, without the title.
    package var body: String {
        guard !message.isTest else {
            return "Alerts of this host arrive here. `bghost alerts test` sent this.\n"
        }
        var text = message.items.map(Self.line).joined()
        if message.omitted > 0 {
            text += "and \(message.omitted) more: `bghost alerts` lists all\n"
        }
        if dropped > 0 {
            text += CountText.of(dropped, "earlier message") + " could not be delivered here\n"
        }
        return text
    }

    private static func line(_ item: AlertMessage.Item) -> String {
        let since = Timestamp.text(unixNanoseconds: item.since)
        switch item.state {
        case .firing: return "FIRING \(subject(item.key)): \(item.detail) (since \(since))\n"
        case .still: return "STILL FIRING \(subject(item.key)): \(item.detail) (since \(since))\n"
        case .resolved:
            let end = item.endedAt.map { " until " + Timestamp.text(unixNanoseconds: $0) } ?? ""
            return "RESOLVED \(subject(item.key)) (since \(since)\(end))\n"
        }
    }

    /// The rule and its subject in a few words.
    package static func subject(_ key: AlertKey) -> String {
        switch key.rule {
        case .noSuccess: "\(key.subject) has not succeeded in time"
        case .failures: "\(key.subject) fails"
        case .lateStart: "\(key.subject) starts late"
        case .longRun: "\(key.subject) runs long"
        case .deadLetters: "\(key.subject) has dead letters"
        case .plugin: "plugin \(key.subject) cannot be used"
        case .store: "the store fails"
        case .fleet: "this host has no lease in the fleet"
        case .partitions: "no request of the fleet starts on this host"
        case .ownerless: "partitions of the fleet have no owner"
        case .receiver: "\(key.subject) takes no alerts"
        }
    }

    /// The body of a webhook: JSON, whose `text` chat services show.
    package var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.alert/1")
            writer.member("host", host)
            writer.member("at", Timestamp.text(unixNanoseconds: message.at))
            writer.member("test", message.isTest)
            writer.member("title", title)
            writer.member("text", title + "\n" + body)
            writer.member("firing", message.firing)
            writer.member("omitted", message.omitted)
            writer.member("dropped", dropped)
            writer.member("alerts") { writer in
                writer.array { writer in
                    for item in message.items { Self.write(item, to: &writer) }
                }
            }
        }
        return writer.text
    }

    private static func write(_ item: AlertMessage.Item, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("rule", item.key.rule.rawValue)
            writer.member("subject", item.key.subject)
            writer.member("state", item.state.rawValue)
            writer.member("since", Timestamp.text(unixNanoseconds: item.since))
            writer.member("endedAt", item.endedAt.map { Timestamp.text(unixNanoseconds: $0) })
            writer.member("detail", item.detail)
        }
    }

    /// An e-mail with its header, for programs such as `sendmail -t`.
    package func mail(to address: String) -> String {
        """
        To: \(address)
        Subject: \(title)
        MIME-Version: 1.0
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: 8bit
        Auto-Submitted: auto-generated

        \(body)
        """
    }
}
