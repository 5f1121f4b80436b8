// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore
internal import BghostWire

/// Notifications that plugins post, and their storage.
extension Host {
    func post(_ call: Call, _ executor: RunExecutor, _ post: NotificationPost) {
        guard mayNotify(call, executor) else { return }
        let serial = executor.serial
        do throws(NotificationFault) {
            executor.openCalls += 1
            try self.post(try NotificationContent(post), of: executor.plugin.name) {
                host,
                result in
                host.posted(result, call: call, serial: serial)
            }
        } catch {
            posted(.failure(error), call: call, serial: serial)
        }
    }

    /// Whether a plugin may post and a delivering task exists; if not, it refuses the call.
    private func mayNotify(_ call: Call, _ executor: RunExecutor) -> Bool {
        let name = executor.plugin.name
        guard executor.plugin.permissions.notify else {
            refuse(
                call,
                executor,
                CallStatus.permission,
                "plugin `\(name)` may not post notifications: add `\"notify\": true` to its"
                    + " `permissions` in \(configuration.manifestPath)"
            )
            return false
        }
        guard notifications != nil else {
            refuse(
                call,
                executor,
                CallStatus.permission,
                "no task delivers the notifications of plugin `\(name)`: add `\"notifications\": {\"task\":"
                    + " ...}` to \(configuration.manifestPath)"
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
        guard let executor = executors[serial] else { return }
        executor.openCalls -= 1
        switch result {
        case .success: answer(call, executor, CallStatus.ok)
        case .failure(let fault):
            let text = "a notification of plugin `\(executor.plugin.name)` is refused: \(fault)"
            refuse(call, executor, .of(fault.kind), text)
        }
    }

    /// Accepts a notification and calls `then` when it is stored or refused.
    func post(
        _ content: NotificationContent,
        of plugin: String,
        then:
            @escaping @Sendable (isolated Host, Result<NotificationRow, NotificationFault>) -> Void
    ) throws(NotificationFault) {
        guard let notifications else {
            throw NotificationFault(.bad, "the manifest has no `notifications`")
        }
        let accepted = try notifications.accept(
            content,
            of: plugin,
            zone: manifest.host.timeZone,
            now: wall
        )
        commitOrRefuse([.notification(.kept(accepted.row))]) { host, result in
            let isStored = if case .success = result { true } else { false }
            let effects = host.notifications?.stored(accepted, isStored: isStored) ?? []
            // Answer first, because the next effects may send the notification to a worker.
            then(
                host,
                isStored
                    ? .success(accepted.row)
                    : .failure(NotificationFault(.store, "it could not be stored"))
            )
            host.carryOut(effects)
            host.advanceNotifications()
            host.armDates()
        }
    }

    func withdrawNotification(_ call: Call, _ executor: RunExecutor, _ id: String) {
        guard let effects = notifications?.withdraw(id, of: executor.plugin.name) else {
            return answer(call, executor, CallStatus.absent)
        }
        let serial = executor.serial
        executor.openCalls += 1
        carryOut(effects) { host, isStored in
            guard let executor = host.executors[serial] else { return }
            executor.openCalls -= 1
            host.answer(call, executor, isStored ? CallStatus.ok : CallStatus.failed)
        }
    }

    func answerNotifications(_ call: Call, _ executor: RunExecutor) {
        let text = notifications?.pending(of: executor.plugin.name) ?? "[]"
        sendReply(
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
