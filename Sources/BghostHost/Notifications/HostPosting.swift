// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore
internal import BghostWire

/// What plugins post, and what becomes of it in the store.
extension Host {
    func post(_ call: Call, _ carrier: Carrier, _ post: NotificationPost) {
        guard mayNotify(call, carrier) else { return }
        let serial = carrier.serial
        do throws(NotificationFault) {
            carrier.openCalls += 1
            try self.post(try NotificationContent(post), of: carrier.plugin.name) {
                host,
                result in
                host.posted(result, call: call, serial: serial)
            }
        } catch {
            posted(.failure(error), call: call, serial: serial)
        }
    }

    /// Whether a plugin may post, and somebody delivers; it is told if not.
    private func mayNotify(_ call: Call, _ carrier: Carrier) -> Bool {
        let name = carrier.plugin.name
        guard carrier.plugin.permissions.notify else {
            refuse(
                call,
                carrier,
                CallStatus.permission,
                "plugin `\(name)` may not post notifications: add `\"notify\": true` to its"
                    + " `permissions` in \(configuration.manifestPath)"
            )
            return false
        }
        guard notifications != nil else {
            refuse(
                call,
                carrier,
                CallStatus.permission,
                "nobody delivers what plugin `\(name)` posts: add `\"notifications\": {\"task\":"
                    + " ...}` to \(configuration.manifestPath)"
            )
            return false
        }
        return true
    }

    /// Answers a plugin once its notification is stored, or is not.
    private func posted(
        _ result: Result<NotificationRow, NotificationFault>,
        call: Call,
        serial: UInt32
    ) {
        guard let carrier = carriers[serial] else { return }
        carrier.openCalls -= 1
        switch result {
        case .success: answer(call, carrier, CallStatus.ok)
        case .failure(let fault):
            let text = "a notification of plugin `\(carrier.plugin.name)` is refused: \(fault)"
            refuse(call, carrier, .of(fault.kind), text)
        }
    }

    /// Takes a notification, and says so once it is stored.
    func post(
        _ content: NotificationContent,
        of plugin: String,
        then:
            @escaping @Sendable (isolated Host, Result<NotificationRow, NotificationFault>) -> Void
    ) throws(NotificationFault) {
        guard notifications != nil else {
            throw NotificationFault(.bad, "the manifest has no `notifications`")
        }
        let now = wall
        let zone = manifest.host.timeZone
        let recurrence = try HostOutbox.recurrence(content, postedAt: now, zone: zone)
        let key = notifications?.nextKey(now) ?? RunID(high: 0, low: 0)
        let row = try notifications?.outbox.accept(
            content,
            of: plugin,
            recurrence: recurrence,
            key: key,
            token: HostOutbox.token(),
            now: now
        )
        guard let row else { return }
        commit([.notification(.kept(row))]) { host, result in
            let isStored = if case .success = result { true } else { false }
            var effects: [OutboxEffect] = []
            host.notifications?.outbox.arrived(
                row,
                recurrence: recurrence,
                isStored: isStored,
                &effects
            )
            // Answered first: what follows may take the notification to a worker.
            then(
                host,
                isStored
                    ? .success(row) : .failure(NotificationFault(.store, "it could not be stored"))
            )
            host.carryOut(effects)
            host.advanceNotifications()
            host.armDates()
        }
    }

    func withdrawNotification(_ call: Call, _ carrier: Carrier, _ id: String) {
        var effects: [OutboxEffect] = []
        guard
            notifications?.outbox.withdraw(id, of: carrier.plugin.name, &effects) == true
        else { return answer(call, carrier, CallStatus.absent) }
        let serial = carrier.serial
        carrier.openCalls += 1
        carryOut(effects) { host, isStored in
            guard let carrier = host.carriers[serial] else { return }
            carrier.openCalls -= 1
            host.answer(call, carrier, isStored ? CallStatus.ok : CallStatus.failed)
        }
    }

    func answerNotifications(_ call: Call, _ carrier: Carrier) {
        let text = notifications?.outbox.pending(of: carrier.plugin.name) ?? "[]"
        sendReply(
            Reply(
                call: call.number,
                status: CallStatus.ok,
                // It may be longer than a frame, as what is fetched may be.
                body: .fetched(
                    httpStatus: 0,
                    headers: "",
                    message: "",
                    body: .inline(Array(text.utf8))
                )
            ),
            to: carrier
        )
    }
}

extension NotificationContent {
    /// Reads what a worker sent; `check` has yet to look at it.
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
