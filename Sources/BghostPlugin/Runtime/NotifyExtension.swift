// SPDX-License-Identifier: Apache-2.0

internal import BghostWire
internal import CBghost
internal import Synchronization

/// The extension `bghost.notify/1`.
extension PluginRuntime {
    static func fill(_ table: UnsafeMutablePointer<bg_notifier>) {
        table.pointee.size = UInt32(MemoryLayout<bg_notifier>.size)
        table.pointee.post = { host, run, notification in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.post(run, notification)
        }
        table.pointee.withdraw = { host, id in
            guard let runtime = PluginRuntime.of(host),
                let id = id.string(max: NotificationPost.nameBytesMax), !id.isEmpty
            else { return BG_E_ARG }
            return runtime.ask(.withdrawNotification(id: id)).status
        }
        table.pointee.pending = { host, buffer, capacity, need in
            guard let runtime = PluginRuntime.of(host) else { return BG_E_ARG }
            return runtime.notifications(buffer, capacity, need)
        }
    }

    private func post(
        _ run: bg_run,
        _ notification: UnsafePointer<bg_notification>?
    ) -> bg_status {
        guard !isClosed.load(ordering: .relaxed) else { return BG_E_CLOSED }
        guard let given = notification?.pointee,
            given.size >= MemoryLayout<bg_notification>.size
        else { return BG_E_ARG }
        guard run == 0 || liveSlot(run) != nil else { return BG_E_STALE }
        let texts: [(bg_str, Int)] = [
            (given.id, NotificationPost.nameBytesMax), (given.title, NotificationPost.textBytesMax),
            (given.subtitle, NotificationPost.textBytesMax),
            (given.body, NotificationPost.textBytesMax),
            (given.thread, NotificationPost.nameBytesMax),
            (given.category, NotificationPost.nameBytesMax),
            (given.user_info, NotificationPost.textBytesMax),
            (given.actions, NotificationPost.actionsBytesMax), (given.calendar, 1024),
            (given.time_zone, 256),
        ]
        var copies: [String] = []
        for (text, most) in texts {
            // size_t is imported as Int: SIZE_MAX is -1 here, and `string` then rejects it.
            guard text.len <= most else { return BG_E_LIMIT }
            guard let copy = text.string(max: most) else { return BG_E_ARG }
            copies.append(copy)
        }
        // Do not name the run: it may be over before the daemon reads this, which is not a fault.
        return ask(
            .post(
                NotificationPost(
                    id: copies[0],
                    level: given.level,
                    title: copies[1],
                    subtitle: copies[2],
                    body: copies[3],
                    thread: copies[4],
                    category: copies[5],
                    userInfo: copies[6],
                    actions: copies[7],
                    atUnixMilliseconds: given.at_unix_ms,
                    everyMilliseconds: given.every_ms,
                    calendar: copies[8],
                    timeZone: copies[9]
                )
            )
        ).status
    }

    private func notifications(
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        guard capacity >= 0, capacity == 0 || buffer != nil else { return BG_E_ARG }
        let answer = ask(.notifications)
        guard answer.status == BG_OK else { return answer.status }
        guard case .fetched(_, _, _, let bytes) = answer.body else { return BG_E_FAILED }
        need?.pointee = bytes.count
        guard capacity > 0, let buffer else { return BG_OK }
        guard bytes.count <= capacity else { return BG_E_SMALL }
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(start: buffer, count: capacity).copyMemory(from: source)
        }
        return BG_OK
    }
}
