// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import CBghost
internal import FoundationEssentials
internal import Synchronization

/// The host's extension `bghost.notify/1`.
struct Notifier {
    private let host: Host
    private let run: bg_run
    private let table: ExtensionTable<bg_notifier>

    /// Finds the extension on the host of the run, or outside a run on the plugin's host.
    init() throws {
        let context = TaskContext.current
        guard let host = context?.host ?? Host.last,
            let table = host.extension(BG_EXT_NOTIFY, as: bg_notifier.self)
        else { throw UNError(BG_E_ABSENT) }
        self.host = host
        self.table = table
        run = context?.run ?? 0
    }

    /// Posts a notification, which the daemon stores.
    func post(_ request: UNNotificationRequest, actions: [UNNotificationAction]) throws {
        let content = request.content
        let userInfo = try JSON.encode(JSONValue(content.userInfo))
        let list = try JSON.encode(actions.map { PostedAction(id: $0.identifier, title: $0.title) })
        let when = try Timing(request.trigger)
        let texts = LentTexts([
            request.identifier, content.title, content.subtitle, content.body,
            content.threadIdentifier, content.categoryIdentifier,
            content.userInfo.isEmpty ? "" : String(decoding: userInfo, as: UTF8.self),
            actions.isEmpty ? "" : String(decoding: list, as: UTF8.self), when.calendar, when.zone,
        ])
        let status = texts.withTexts { texts in
            var posted = bg_notification()
            posted.size = UInt32(MemoryLayout<bg_notification>.size)
            posted.level = UInt32(clamping: content.interruptionLevel.rawValue)
            posted.id = texts[0]
            posted.title = texts[1]
            posted.subtitle = texts[2]
            posted.body = texts[3]
            posted.thread = texts[4]
            posted.category = texts[5]
            posted.user_info = texts[6]
            posted.actions = texts[7]
            posted.at_unix_ms = when.at
            posted.every_ms = when.every
            posted.calendar = texts[8]
            posted.time_zone = texts[9]
            return table.post?(host.pointer, run, &posted) ?? BG_E_ABSENT
        }
        guard status == BG_OK else { throw UNError(status) }
    }

    func withdraw(_ identifier: String) {
        // If no such notification is pending, nothing needs to be done.
        identifier.withBgStr { _ = table.withdraw?(host.pointer, $0) }
    }

    func pending() -> [PendingNotification] {
        var capacity = 64 << 10
        while capacity <= 16 << 20 {
            var length = 0
            var status = BG_E_ABSENT
            let bytes = [CChar](unsafeUninitializedCapacity: capacity) { buffer, count in
                status =
                    table.pending?(host.pointer, buffer.baseAddress, capacity, &length)
                    ?? BG_E_ABSENT
                count = status == BG_OK ? min(length, capacity) : 0
            }
            if status == BG_E_SMALL {
                // More notifications may be added between two calls.
                capacity = max(capacity * 2, length)
                continue
            }
            let data = Data(bytes.map { UInt8(bitPattern: $0) })
            // Apple's method cannot fail; a host that answers with anything else lists none.
            return (try? JSONDecoder().decode([PendingNotification].self, from: data)) ?? []
        }
        return []
    }
}

private struct PostedAction: Encodable {
    var id: String
    var title: String
}

/// The delivery time of a notification, in the fields of the ABI.
private struct Timing {
    var at: Int64 = 0
    var every: Int64 = 0
    var calendar = ""
    var zone = ""

    init(_ trigger: UNNotificationTrigger?) throws {
        switch trigger {
        case let trigger as UNTimeIntervalNotificationTrigger:
            guard trigger.timeInterval >= (trigger.repeats ? 60 : 0) else {
                throw UNError(
                    .notificationInvalidNoDate,
                    "a time interval is positive, and at least 60 s if it repeats"
                )
            }
            at = trigger.nextTriggerDate()?.unixMilliseconds ?? 0
            if trigger.repeats {
                every = Int64(exactly: (trigger.timeInterval * 1000).rounded()) ?? .max
            }
        case let trigger as UNCalendarNotificationTrigger where trigger.repeats:
            calendar = try trigger.calendarText()
            zone = try trigger.zoneText()
        case let trigger as UNCalendarNotificationTrigger:
            guard let date = trigger.nextTriggerDate() else {
                throw UNError(.notificationInvalidNoDate, "the date components never match")
            }
            at = date.unixMilliseconds
        default: break
        }
    }
}

/// A notification in the host's list; the property names are those of the JSON.
struct PendingNotification: Decodable {
    var id: String
    var level: Int?
    var title: String?
    var subtitle: String?
    var body: String?
    var thread: String?
    var category: String?
    var user_info: JSONValue?
    var at_unix_ms: Int64?
    var every_ms: Int64?
    var calendar: String?
    var time_zone: String?

    var request: UNNotificationRequest {
        let content = UNMutableNotificationContent(
            title: title,
            subtitle: subtitle,
            body: body,
            thread: thread,
            category: category,
            level: level.flatMap(UNNotificationInterruptionLevel.init),
            userInfo: user_info
        )
        return UNNotificationRequest(identifier: id, content: content, trigger: trigger)
    }

    /// The calendar, or the next delivery as an interval from now.
    private var trigger: UNNotificationTrigger? {
        if let calendar, !calendar.isEmpty {
            return UNCalendarNotificationTrigger(listed: calendar, zone: time_zone ?? "")
        }
        if let every_ms, every_ms > 0 {
            return UNTimeIntervalNotificationTrigger(
                timeInterval: Double(every_ms) / 1000,
                repeats: true
            )
        }
        guard let at_unix_ms, at_unix_ms > 0 else { return nil }
        let wait = Date(unixMilliseconds: at_unix_ms).timeIntervalSince(.currentForRun)
        return UNTimeIntervalNotificationTrigger(timeInterval: max(0, wait), repeats: false)
    }
}
