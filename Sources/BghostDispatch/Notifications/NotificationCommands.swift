// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostCalendar
package import BghostModel
internal import BghostNotify
package import BghostServices

/// The operator's commands for notifications, and answers of people to them.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
package final class NotificationCommands {
    /// The plugin name of test notifications; no plugin can have this name.
    static let ownName = "(bghost)"

    private let delivery: NotificationDelivery
    private let intake: RequestIntake
    private let uses: UseCommands
    private let clock: DaemonClock
    private let log: HostLog
    private let manifestPath: String
    private let zone: () -> ZoneTable
    private let permissions: (_ plugin: String) -> Permissions?

    /// - Parameters:
    ///   - zone: the manifest's time zone.
    ///   - permissions: the permissions of a plugin; `nil` if the manifest has no such plugin.
    package init(
        _ delivery: NotificationDelivery,
        _ intake: RequestIntake,
        _ uses: UseCommands,
        _ clock: DaemonClock,
        log: HostLog,
        manifestPath: String,
        zone: @escaping () -> ZoneTable,
        permissions: @escaping (_ plugin: String) -> Permissions?
    ) {
        self.delivery = delivery
        self.intake = intake
        self.uses = uses
        self.clock = clock
        self.log = log
        self.manifestPath = manifestPath
        self.zone = zone
        self.permissions = permissions
    }

    /// All notifications, the oldest first.
    package func statuses() throws(OperatorRefusal) -> [NotificationStatus] {
        try knownOutbox().statuses
    }

    /// Posts a notification of the daemon's own, and returns when it is stored.
    package nonisolated(nonsending) func postTest() async throws(OperatorRefusal)
        -> NotificationStatus
    {
        let outbox = try knownOutbox()
        let content = NotificationContent(
            id: "test",
            title: "A test of bghost",
            body: "Notifications of this host arrive here."
        )
        let result: Result<NotificationRow, NotificationFault> = await withCheckedContinuation {
            continuation in
            do throws(NotificationFault) {
                try delivery.post(content, of: Self.ownName, zone: zone()) {
                    continuation.resume(returning: $0)
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        switch result {
        case .success(let row):
            return NotificationStatus(row, isUnderWay: outbox.isUnderWay(row.key))
        case .failure(let fault):
            throw OperatorRefusal(.unavailable, "the test could not be posted: \(fault)")
        }
    }

    /// The notification that a link belongs to.
    package func find(token: String) -> NotificationStatus? {
        delivery.outbox?.find(token: token).map { NotificationStatus($0, isUnderWay: false) }
    }

    /// Submits the request by which a plugin handles the answer to one of its notifications.
    package nonisolated(nonsending) func act(
        on notification: NotificationReference,
        action: String,
        text: String?
    ) async throws(OperatorRefusal) -> NotificationAnswer {
        let outbox = try knownOutbox()
        let row = try find(notification, in: outbox)
        guard let permissions = permissions(row.plugin), !row.isDigest else {
            throw OperatorRefusal(.badAction, "this notification takes no answers")
        }
        if let problem = row.problem(action: action, text: text) {
            throw OperatorRefusal(.badAction, problem)
        }
        guard permissions.notify else {
            throw OperatorRefusal(
                .notPermitted,
                "plugin `\(row.plugin)` may not notify any more, so it takes no answers"
            )
        }
        let event = outbox.makeKey(now: clock.wall)
        let task = NotificationAction.identifier(plugin: row.plugin, event: event)
        let request = try await requestAnswer(
            Submission(task: task, parameters: row.actionParameters(action, text: text))
        )
        uses.noteUse(ofPlugin: row.plugin)
        log.write(
            .info,
            "notification.answered",
            "notification `\(PrintableText.escaped(row.content.id))` was answered:"
                + " `\(PrintableText.escaped(action))`",
            task: task,
            plugin: row.plugin
        )
        return NotificationAnswer(
            notification: row.content.id,
            plugin: row.plugin,
            action: action,
            request: request.id,
            task: task
        )
    }

    private nonisolated(nonsending) func requestAnswer(
        _ submission: Submission
    ) async throws(OperatorRefusal) -> Request {
        do {
            return try await intake.submit(submission, isManual: false).request
        } catch {
            switch error.code {
            case .storeFailed: throw OperatorRefusal(.storeFailed, error.message)
            case .notPermitted: throw OperatorRefusal(.notPermitted, error.message)
            default: throw OperatorRefusal(.unavailable, error.message)
            }
        }
    }

    private func find(
        _ notification: NotificationReference,
        in outbox: NotificationOutbox
    ) throws(OperatorRefusal) -> NotificationRow {
        switch notification {
        case .token(let token):
            if let row = outbox.find(token: token) { return row }
            throw OperatorRefusal(
                .noSuchNotification,
                "there is no notification of this link; it may be too old, or replaced by a newer one"
            )
        case .id(let id, let plugin):
            let found = outbox.find(id: id, plugin: plugin)
            if let row = found.first, found.count == 1 { return row }
            let shown = PrintableText.escaped(String(id.prefix(200)))
            guard found.isEmpty else {
                throw OperatorRefusal(
                    .ambiguousNotification,
                    "\(found.count) plugins have a notification `\(shown)`",
                    fix: "name one with --plugin: "
                        + found.map(\.plugin).sorted().joined(separator: ", ")
                )
            }
            let near = Spelling.nearest(to: id, among: outbox.publicIDs)
            throw OperatorRefusal(
                .noSuchNotification,
                "there is no notification `\(shown)`",
                fix: near.map { "did you mean \($0)?" } ?? "bghost notify outbox lists them",
                candidates: near.map { [$0] } ?? []
            )
        }
    }

    private func knownOutbox() throws(OperatorRefusal) -> NotificationOutbox {
        if let outbox = delivery.outbox { return outbox }
        throw OperatorRefusal(
            .unavailable,
            "\(manifestPath) has no `notifications`, so no task delivers any",
            fix: "name the task that delivers: \"notifications\": {\"task\": ...}"
        )
    }
}
