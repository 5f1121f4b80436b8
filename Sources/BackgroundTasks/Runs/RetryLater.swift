// SPDX-License-Identifier: Apache-2.0

/// Throw it from a handler to end the run as failed and have it tried again.
public struct RetryLater: Error {
    /// Not before this much time has passed; `nil` leaves it to the manifest.
    public var after: Duration?
    /// What went wrong, for people.
    public var reason: String

    /// Makes the error.
    public init(after: Duration? = nil, _ reason: String = "") {
        self.after = after
        self.reason = reason
    }
}
