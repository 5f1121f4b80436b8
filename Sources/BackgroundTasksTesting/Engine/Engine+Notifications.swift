// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostWire
internal import CBghost

/// A notification of a plugin.
struct PostedNotification: Sendable {
    let call: NotificationPost
    /// Unix nanoseconds.
    let postedAt: Int64

    /// When it is due, Unix nanoseconds.
    var due: Int64 {
        let at = call.atUnixMilliseconds
        return at == 0 ? postedAt : min(at, Int64.max / 1_000_000) * 1_000_000
    }
}

/// Notifications.
///
/// The host shows none; the test inspects them.
extension Engine {
    mutating func post(_ call: NotificationPost) -> Int32 {
        let texts = call.title.utf8.count + call.subtitle.utf8.count + call.body.utf8.count
        let every = call.everyMilliseconds
        guard !call.id.isEmpty, call.level <= BG_NOTIFY_CRITICAL, call.atUnixMilliseconds >= 0,
            every == 0 || every >= 60_000
        else { return BG_E_ARG }
        guard texts <= 4 << 10 else { return BG_E_LIMIT }
        notifications.removeAll { $0.call.id == call.id }
        notifications.append(PostedNotification(call: call, postedAt: now.unix))
        return BG_OK
    }

    mutating func withdrawNotification(_ id: String) -> Int32 {
        guard let index = notifications.firstIndex(where: { $0.call.id == id && isWaiting($0) })
        else { return BG_E_ABSENT }
        notifications.remove(at: index)
        return BG_OK
    }

    /// Whether it still has a delivery ahead.
    func isWaiting(_ posted: PostedNotification) -> Bool {
        posted.due > now.unix || posted.call.everyMilliseconds > 0 || !posted.call.calendar.isEmpty
    }

    func pendingNotifications() -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for posted in notifications where isWaiting(posted) {
                writer.object { Self.write(posted, &$0) }
            }
        }
        return writer.text
    }

    private static func write(_ posted: PostedNotification, _ writer: inout JSONWriter) {
        let call = posted.call
        writer.member("id", call.id)
        writer.member("level", call.level)
        writer.member("title", call.title)
        writer.member("subtitle", call.subtitle)
        writer.member("body", call.body)
        writer.member("thread", call.thread)
        writer.member("category", call.category)
        writer.member("user_info", raw: call.userInfo.isEmpty ? "{}" : call.userInfo)
        writer.member("actions", raw: call.actions.isEmpty ? "[]" : call.actions)
        writer.member("at_unix_ms", call.atUnixMilliseconds)
        writer.member("every_ms", call.everyMilliseconds)
        writer.member("calendar", call.calendar)
        writer.member("time_zone", call.timeZone)
    }
}
