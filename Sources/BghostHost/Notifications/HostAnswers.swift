// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostStore

/// The operator's commands for the outbox, and answers of people to notifications.
extension Host: NotificationControl {
    /// The plugin name of test notifications; no plugin can have this name.
    private static let ownName = "(bghost)"

    package func outbox() throws(OperatorRefusal) -> [NotificationStatus] {
        try knownOutbox().statuses
    }

    package func postTestNotification() async throws(OperatorRefusal) -> NotificationStatus {
        _ = try knownOutbox()
        let content = NotificationContent(
            id: "test",
            title: "A test of bghost",
            body: "Notifications of this host arrive here."
        )
        let result: Result<NotificationRow, NotificationFault> = await withCheckedContinuation {
            continuation in
            do throws(NotificationFault) {
                try post(content, of: Self.ownName) { _, result in
                    continuation.resume(returning: result)
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        switch result {
        case .success(let row):
            let isUnderWay = notifications?.isUnderWay(row.key) == true
            return NotificationStatus(row, isUnderWay: isUnderWay)
        case .failure(let fault):
            throw OperatorRefusal(.unavailable, "the test could not be posted: \(fault)")
        }
    }

    package func notification(token: String) -> NotificationStatus? {
        notifications?.find(token: token).map { NotificationStatus($0, isUnderWay: false) }
    }

    package func act(
        on notification: NotificationReference,
        action: String,
        text: String?
    ) async throws(OperatorRefusal) -> NotificationAnswer {
        let row = try find(notification)
        guard pluginsByName[row.plugin] != nil, !row.isDigest else {
            throw OperatorRefusal(.badAction, "this notification takes no answers")
        }
        if let problem = row.problem(action: action, text: text) {
            throw OperatorRefusal(.badAction, problem)
        }
        guard pluginsByName[row.plugin]?.permissions.notify == true else {
            throw OperatorRefusal(
                .notPermitted,
                "plugin `\(row.plugin)` may not notify any more, so it takes no answers"
            )
        }
        let event = notifications?.makeKey(now: wall) ?? row.key
        let task = NotificationAction.identifier(plugin: row.plugin, event: event)
        let request = try await requestAnswer(
            Submission(task: task, parameters: row.actionParameters(action, text: text))
        )
        noteUse(ofPlugin: row.plugin)
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

    private func requestAnswer(
        _ submission: Submission
    ) async throws(OperatorRefusal) -> PendingRequest {
        do {
            return try await take(submission, isSimulated: false)
        } catch {
            switch error.code {
            case .storeFailed: throw OperatorRefusal(.storeFailed, error.message)
            case .notPermitted: throw OperatorRefusal(.notPermitted, error.message)
            default: throw OperatorRefusal(.unavailable, error.message)
            }
        }
    }

    private func find(
        _ notification: NotificationReference
    ) throws(OperatorRefusal) -> NotificationRow {
        let outbox = try knownOutbox()
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
        if let notifications { return notifications }
        throw OperatorRefusal(
            .unavailable,
            "\(configuration.manifestPath) has no `notifications`, so no task delivers any",
            fix: "name the task that delivers: \"notifications\": {\"task\": ...}"
        )
    }
}
