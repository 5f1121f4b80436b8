// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostWire
public import BackgroundTasks
internal import BghostModel
public import FoundationEssentials

/// Background transfers, which the test answers like fetches, instead of a network.
extension TestHost {
    /// A transfer of a session that is in progress, or has ended and is not acknowledged.
    public struct Transfer: Sendable {
        let number: String
        /// The identifier of the session.
        public let session: String
        /// The request; the body of an upload is its file.
        public let request: FetchRequest
        /// Whether it is an upload of a file.
        public let isUpload: Bool
        /// Whether it has ended, and waits for a run to acknowledge it.
        public let hasEnded: Bool
        /// Whether a run awaits its end.
        public let isAwaited: Bool
        /// Whether no run has taken its end, so that it waits until the plugin makes its session.
        public let waitsForSession: Bool
    }

    /// The transfers of the plugin, in the order in which they started.
    ///
    /// The host calls the function of `respond` for transfers as for fetches, once they may start. Its
    /// response ends the transfer: a status of 2xx leaves the body of a download in a file; any other
    /// is a failure. Unlike the daemon, the test host does not retry. When the last transfer of a
    /// session has ended and no run awaits it, the session's handler gets a wake, and another one a
    /// minute after a failed wake. Ends that a wake keeps wait until a run creates the session.
    public var transfers: [Transfer] {
        core.read { engine in
            engine.ordered.compactMap { transfer in
                guard let request = FetchRequest(transfer.call) else { return nil }
                return Transfer(
                    number: transfer.id,
                    session: transfer.call.session,
                    request: request,
                    isUpload: transfer.call.isUpload,
                    hasEnded: transfer.end != nil,
                    isAwaited: !transfer.waiters.isEmpty,
                    waitsForSession: transfer.isKept
                )
            }
        }
    }

    /// Ends a transfer with an answer, and carries out the effects, including the run of its
    /// session.
    ///
    /// - Parameters:
    ///   - transfer: a transfer from `transfers`.
    ///   - response: the server's response.
    /// - Throws: `TestHostError` with code `.noSuchFetch` if it has ended; otherwise as `advance`.
    public func answer(_ transfer: Transfer, with response: FetchResponse) async throws {
        try await end(transfer, FetchEnd(response))
    }

    /// Makes a transfer fail, and carries out the effects.
    ///
    /// - Parameters:
    ///   - transfer: a transfer from `transfers`.
    ///   - error: the error.
    /// - Throws: as `answer`.
    public func fail(_ transfer: Transfer, with error: FetchError) async throws {
        try await end(transfer, FetchEnd(error))
    }

    private func end(_ transfer: Transfer, _ end: FetchEnd) async throws {
        try await driver.exclusively {
            guard driver.end(transfer.number, end) else {
                throw TestHostError(
                    .noSuchFetch,
                    "the transfer of \(transfer.request.url) is over: it was answered, timed out, or"
                        + " was cancelled"
                )
            }
            try await driver.advance(by: 0)
        }
    }
}

/// Notifications, which the host does not show.
extension TestHost {
    /// A notification that the plugin has posted.
    public struct Notification: Hashable, Sendable {
        /// Its identifier; a later notification with the same one replaces it.
        public let identifier: String
        /// The title.
        public let title: String
        /// The subtitle.
        public let subtitle: String
        /// The body.
        public let body: String
        /// The category, which determines its actions.
        public let category: String
        /// The user info: a JSON object, or "".
        public let userInfo: String
        /// The actions: a JSON array, or "".
        public let actions: String
        /// The first delivery; with a calendar, the time of posting.
        public let date: Date
        /// The interval between deliveries; zero if it is delivered once.
        public let interval: Duration
        /// The calendar of its deliveries, in the words of `tasks.json`; "" if `date` and
        /// `interval` apply.
        public let calendar: String
    }

    /// All notifications that were not replaced or withdrawn, in the order of posting.
    public var notifications: [Notification] {
        core.read { engine in engine.notifications.map(Notification.init) }
    }

    /// Responds to a notification as a user would: it starts a run of `notificationAction`.
    ///
    /// - Parameters:
    ///   - action: the identifier of an action.
    ///   - identifier: the identifier of a posted notification.
    ///   - text: the text that the user typed; `nil` for none.
    /// - Returns: the run, once it has ended or waits for the clock or an answer.
    /// - Throws: `TestHostError` with code `.noSuchNotification`; otherwise as `launch`.
    @discardableResult
    public func act(
        _ action: String,
        on identifier: String,
        text: String? = nil
    ) async throws -> Run {
        let found = core.read { engine in
            (engine.notifications.last { $0.call.id == identifier }, engine.subject.actionTask)
        }
        guard let posted = found.0, let task = found.1 else {
            throw TestHostError(
                .noSuchNotification,
                found.1 == nil
                    ? "the plugin has no handler `notificationAction`"
                    : "there is no notification `\(identifier)`"
            )
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", identifier)
            writer.member("action", action)
            writer.member("text", text)
            let levels = ["passive", "active", "timeSensitive", "critical"]
            writer.member("level", levels[min(Int(posted.call.level), levels.count - 1)])
            for (name, text) in [
                ("title", posted.call.title), ("subtitle", posted.call.subtitle),
                ("body", posted.call.body), ("thread", posted.call.thread),
                ("category", posted.call.category),
            ] {
                writer.member(name, text)
            }
            let userInfo = posted.call.userInfo
            writer.member("userInfo", raw: userInfo.isEmpty ? "{}" : userInfo)
        }
        return try await launch(
            Submission(task: task, parameters: writer.text, ignoresRequirements: true)
        )
    }
}

extension TestHost.Notification {
    init(_ posted: PostedNotification) {
        identifier = posted.call.id
        title = posted.call.title
        subtitle = posted.call.subtitle
        body = posted.call.body
        category = posted.call.category
        userInfo = posted.call.userInfo
        actions = posted.call.actions
        date = Date(unixNanoseconds: posted.due)
        interval = .milliseconds(posted.call.everyMilliseconds)
        calendar = posted.call.calendar
    }
}
