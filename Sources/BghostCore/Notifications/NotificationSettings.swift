// SPDX-License-Identifier: Apache-2.0

/// The section `notifications`: who delivers what plugins post, and how much of it.
package struct NotificationSettings: Equatable, Sendable {
    /// How many may be delivered within a time, of one plugin.
    package struct Rate: Equatable, Sendable {
        package var count: Int
        package var per: Duration

        package init(count: Int = 30, per: Duration = .seconds(3600)) {
            self.count = count
            self.per = per
        }
    }

    /// The task that delivers, as it stands in `tasks`.
    package var task: IdentifierPattern
    package var rate: Rate
    /// How long a delivery is tried, and how long an answer to it counts.
    package var expiry: Duration
    /// The port of loopback at which links to actions are served; `nil` if there are none.
    package var actionPort: Int?

    package init(
        task: IdentifierPattern,
        rate: Rate = Rate(),
        expiry: Duration = .seconds(7 * 86_400),
        actionPort: Int? = nil
    ) {
        self.task = task
        self.rate = rate
        self.expiry = expiry
        self.actionPort = actionPort
    }

    /// The port of links where the manifest names none.
    package static let defaultActionPort = 8644
}
