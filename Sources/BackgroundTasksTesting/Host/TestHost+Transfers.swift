// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import BghostCore
public import FoundationEssentials

/// Background transfers, which go over no network: the test answers them, as it does fetches.
extension TestHost {
    /// A transfer of a session that is under way, or has ended and was not dealt with.
    public struct Transfer: Sendable {
        let number: String
        /// The session.
        public let session: String
        /// What is asked for; of an upload, the body is its file.
        public let request: FetchRequest
        /// Whether a file is sent.
        public let isUpload: Bool
        /// Whether it has ended, and waits for a run to take it.
        public let hasEnded: Bool
        /// Whether a run awaits its end.
        public let isAwaited: Bool
    }

    /// The transfers of the plugin, in the order in which they began.
    ///
    /// `respond` is asked about them as it is about fetches, once they may begin. An answer is the
    /// end: a status of 2xx leaves the body of a download in a file; any other is a failure. It is the
    /// daemon that tries again. When the last of a session has ended and no run awaits it, the
    /// session's handler has a run, and a minute after one that failed another.
    public var transfers: [Transfer] {
        core.look { engine in
            engine.ordered.compactMap { transfer in
                guard let request = FetchRequest(transfer.call) else { return nil }
                return Transfer(
                    number: transfer.id,
                    session: transfer.call.session,
                    request: request,
                    isUpload: transfer.call.isUpload,
                    hasEnded: transfer.end != nil,
                    isAwaited: !transfer.waiters.isEmpty
                )
            }
        }
    }

    /// Ends a transfer with an answer, and carries out what follows, up to the run of its session.
    ///
    /// - Throws: `TestHostError`, code `.noSuchFetch` if it is over; as of `advance`.
    public func answer(_ transfer: Transfer, with response: FetchResponse) async throws {
        try await end(transfer, FetchEnd(response))
    }

    /// Has a transfer fail, and carries out what follows.
    ///
    /// - Throws: as of `answer`.
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

/// Notifications, which nobody is shown.
extension TestHost {
    /// A notification that the plugin has posted.
    public struct Notification: Hashable, Sendable {
        /// A later one of the same takes its place.
        public let identifier: String
        /// The first line.
        public let title: String
        /// The second line.
        public let subtitle: String
        /// The text.
        public let body: String
        /// The category whose actions it has.
        public let category: String
        /// A JSON object, or "".
        public let userInfo: String
        /// The actions: a JSON array, or "".
        public let actions: String
        /// When it is delivered first; for a calendar, when it was posted.
        public let date: Date
        /// How long after each delivery the next one is; zero is never.
        public let interval: Duration
        /// When it is delivered, in the words of `tasks.json`; "" is as above.
        public let calendar: String
    }

    /// All that was posted and not replaced or withdrawn, in that order.
    public var notifications: [Notification] {
        core.look { engine in engine.notifications.map(Notification.init) }
    }

    /// Does something with a notification, as a person would: runs `notificationAction`.
    ///
    /// - Parameters:
    ///   - action: the identifier of an action.
    ///   - identifier: of a notification that was posted.
    ///   - text: what was typed.
    /// - Returns: the run, once it has ended, or waits for the clock or an answer.
    /// - Throws: `TestHostError`, code `.noSuchNotification`; as of `launch`.
    @discardableResult
    public func act(
        _ action: String,
        on identifier: String,
        text: String? = nil
    ) async throws -> Run {
        let found = core.look { engine in
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
        interval = .milliseconds(posted.call.every)
        calendar = posted.call.calendar
    }
}
