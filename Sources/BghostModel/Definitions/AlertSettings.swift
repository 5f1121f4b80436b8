// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Whom the daemon tells of trouble, and how often: the section `host.alerts`.
package struct AlertSettings: Equatable, Sendable {
    /// Who gets each message, at most ``receiversMax``.
    package var receivers: [AlertReceiver] = []
    /// After this time, a message says again what still fires.
    package var repeatPeriod = Duration.seconds(4 * 3600)
    /// What happens within this time is told in one message.
    package var digest = Duration.seconds(60)
    /// When no message is sent.
    package var mute = MuteCalendar()

    package static let receiversMax = 8

    package init() {}
}

/// Who gets messages about alerts.
package enum AlertReceiver: Equatable, Sendable {
    /// A POST with a JSON body.
    ///
    /// With a secret, the body is signed by HMAC-SHA256.
    case webhook(url: String, headers: [AlertHeader], secret: String?)
    /// A topic of a server of ntfy.
    case ntfy(url: String, token: String?)
    /// A program that gets the text on its standard input.
    ///
    /// With an address, the text is an e-mail with its header.
    case command(arguments: [String], to: String?)
    /// The task that the section `notifications` names.
    case notifications(task: String)

    /// A name for people, without anything that may be secret: URLs of webhooks often are.
    package var label: String {
        switch self {
        case .webhook(let url, _, _): "webhook " + Self.server(of: url)
        case .ntfy(let url, _): "ntfy " + Self.server(of: url)
        case .command(let arguments, _): "command " + (arguments.first ?? "")
        case .notifications(let task): "task " + task
        }
    }

    /// The scheme, host and port of its URL; "" if it has none.
    package var server: String {
        switch self {
        case .webhook(let url, _, _), .ntfy(let url, _): Self.server(of: url)
        case .command, .notifications: ""
        }
    }

    /// The scheme, host and port of a URL: a path, a query, a fragment and a user may be secret.
    private static func server(of url: String) -> String {
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) } ?? ""
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return scheme + host
    }
}

/// A header that a webhook gets.
package struct AlertHeader: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Where the daemon reports that it lives: the section `host.heartbeat`.
package struct HeartbeatSettings: Equatable, Sendable {
    /// An address of healthchecks.io or a push address of Uptime Kuma.
    package var url: String
    package var every = Duration.seconds(60)

    package init(url: String) { self.url = url }
}

/// What an operator expects of a task; a part that is `nil` is not watched.
package struct TaskExpectation: Equatable, Sendable {
    /// The longest time between two successful runs.
    package var every: Duration?
    /// The longest time from the due date of a request to its start.
    package var start: Duration?
    /// The longest time that a run usually takes.
    package var runtime: Duration?
    /// The number of failed runs in a row that is too many.
    package var failures: Int?

    package init(
        every: Duration? = nil,
        start: Duration? = nil,
        runtime: Duration? = nil,
        failures: Int? = nil
    ) {
        self.every = every
        self.start = start
        self.runtime = runtime
        self.failures = failures
    }

    /// What is expected of a task with a schedule whose manifest names nothing else.
    package static let ofSchedules = TaskExpectation(start: .seconds(300), failures: 3)

    package var isEmpty: Bool { self == TaskExpectation() }
}
