// SPDX-License-Identifier: Apache-2.0

/// The manifest's section `notifications`: the delivering task, and the limits.
package struct NotificationSettings: Equatable, Sendable {
    /// The maximum number of deliveries per plugin within a time.
    package struct Rate: Equatable, Sendable {
        package var count: Int
        package var per: Duration

        init(count: Int = 30, per: Duration = .seconds(3600)) {
            self.count = count
            self.per = per
        }
    }

    /// The identifier of the delivering task in `tasks`.
    package var task: IdentifierPattern
    package var rate: Rate
    /// How long a delivery is retried, and how long an answer is accepted.
    package var expiry: Duration
    /// The port on loopback that serves the links to actions; `nil` if there are none.
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

    /// The port of the links if the manifest contains none.
    package static let defaultActionPort = 8644
}
