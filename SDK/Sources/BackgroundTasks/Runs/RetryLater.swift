// SPDX-License-Identifier: Apache-2.0

/// An error that ends the run as failed and requests a retry.
///
/// Throw it from a handler.
public struct RetryLater: Error {
    /// The least delay before the retry; with `nil`, the manifest determines it.
    public var after: Duration?
    /// What went wrong, as a message for people.
    public var reason: String

    /// Creates the error.
    public init(after: Duration? = nil, _ reason: String = "") {
        self.after = after
        self.reason = reason
    }
}
