// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
internal import BghostModel
internal import BghostNotify
internal import BghostWire

/// Notifications that plugins post, and their storage.
extension PluginCalls {
    func post(_ call: Call, _ executor: any RunExecutor, _ post: NotificationPost) {
        guard mayNotify(call, executor) else { return }
        let serial = executor.serial
        do throws(NotificationFault) {
            replies.open(executor)
            try notifications.post(
                try NotificationContent(post),
                of: executor.plugin.name,
                zone: zone()
            ) { [unowned self] result in posted(result, call: call, serial: serial) }
        } catch {
            posted(.failure(error), call: call, serial: serial)
        }
    }

    /// Whether a plugin may post and a delivering task exists; if not, it refuses the call.
    private func mayNotify(_ call: Call, _ executor: any RunExecutor) -> Bool {
        let name = executor.plugin.name
        guard executor.plugin.permissions.notify else {
            replies.refuse(
                call,
                executor,
                CallStatus.permission,
                "plugin `\(name)` may not post notifications: add `\"notify\": true` to its"
                    + " `permissions` in \(manifestPath)"
            )
            return false
        }
        guard notifications.outbox != nil else {
            replies.refuse(
                call,
                executor,
                CallStatus.permission,
                "no task delivers the notifications of plugin `\(name)`: add `\"notifications\": {\"task\":"
                    + " ...}` to \(manifestPath)"
            )
            return false
        }
        return true
    }

    /// Answers a plugin when its notification is stored or refused.
    private func posted(
        _ result: Result<NotificationRow, NotificationFault>,
        call: Call,
        serial: UInt32
    ) {
        guard let executor = replies.close(serial) else { return }
        switch result {
        case .success: replies.answer(call, executor, CallStatus.ok)
        case .failure(let fault):
            let text = "a notification of plugin `\(executor.plugin.name)` is refused: \(fault)"
            replies.refuse(call, executor, .of(fault.kind), text)
        }
    }

    func withdrawNotification(_ call: Call, _ executor: any RunExecutor, _ id: String) {
        let serial = executor.serial
        replies.open(executor)
        let isKnown = notifications.withdraw(id, of: executor.plugin.name) {
            [replies] isStored in
            guard let executor = replies.close(serial) else { return }
            replies.answer(call, executor, isStored ? CallStatus.ok : CallStatus.failed)
        }
        guard !isKnown, let executor = replies.close(serial) else { return }
        replies.answer(call, executor, CallStatus.absent)
    }

    func answerNotifications(_ call: Call, _ executor: any RunExecutor) {
        let text = notifications.outbox?.pending(of: executor.plugin.name) ?? "[]"
        replies.send(
            Reply(
                call: call.number,
                status: CallStatus.ok,
                // Use the body of a fetch, because the list may be longer than a frame.
                body: .fetched(
                    httpStatus: 0,
                    headers: "",
                    message: "",
                    body: .inline(Array(text.utf8))
                )
            ),
            to: executor
        )
    }
}

extension NotificationContent {
    /// Converts a worker's frame; `check` validates the content later.
    fileprivate init(_ post: NotificationPost) throws(NotificationFault) {
        guard let level = NotificationLevel(rawValue: post.level) else {
            throw NotificationFault(.bad, "its level is unknown")
        }
        let (at, tooLate) = post.atUnixMilliseconds.multipliedReportingOverflow(by: 1_000_000)
        let (every, tooLong) = post.everyMilliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !tooLate, !tooLong else {
            throw NotificationFault(.bad, "its date is beyond all times")
        }
        self.init(
            id: post.id,
            level: level,
            title: post.title,
            subtitle: post.subtitle,
            body: post.body,
            thread: post.thread,
            category: post.category,
            userInfo: post.userInfo.isEmpty ? "{}" : post.userInfo,
            actions: try Self.actions(json: post.actions),
            at: at,
            every: every,
            calendar: post.calendar,
            timeZone: post.timeZone
        )
    }
}

extension Int32 {
    fileprivate static func of(_ kind: NotificationFault.Kind) -> Int32 {
        switch kind {
        case .bad: CallStatus.argument
        case .limit: CallStatus.limit
        case .store: CallStatus.failed
        }
    }
}
