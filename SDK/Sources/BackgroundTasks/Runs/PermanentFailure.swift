// SPDX-License-Identifier: Apache-2.0

/// An error that ends the run as failed without a retry.
///
/// Throw it from a handler when another attempt would fail too. It overrides `retry` of the task in
/// `tasks.json`. With `"policy": "exponential"` the request becomes a dead letter; any other error
/// is retried.
public struct PermanentFailure: Error {
    /// What went wrong, as a message for people.
    public var reason: String

    /// Creates the error.
    public init(_ reason: String) { self.reason = reason }
}
