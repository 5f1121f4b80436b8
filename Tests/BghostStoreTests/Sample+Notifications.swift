// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostNotify
import BghostTestSupport

extension Sample {
    /// With every field another than its default.
    static let notification = NotificationRow(
        key: RunID(high: 5, low: 6),
        plugin: "p",
        content: NotificationContent(
            id: "storm",
            level: .critical,
            title: "A storm",
            subtitle: "is coming",
            body: "soon",
            thread: "weather",
            category: "storms",
            userInfo: #"{"a":[1]}"#,
            actions: [.init(id: "photo", title: "Take \"it\"")],
            at: 7,
            every: 60_000_000_000,
            calendar: "0 12 * * *",
            timeZone: "Europe/Berlin"
        ),
        token: "0123456789abcdef",
        state: .delivered,
        postedAt: 1,
        due: 2,
        occurrence: 3,
        failures: 4,
        notBefore: 5,
        replaces: true,
        deliveredAt: 6,
        fault: "no answer"
    )

    static let otherNotification = NotificationRow(
        key: RunID(high: 5, low: 7),
        plugin: "p",
        content: NotificationContent(id: "other", title: "t"),
        token: "",
        postedAt: 1,
        due: 2
    )
}
