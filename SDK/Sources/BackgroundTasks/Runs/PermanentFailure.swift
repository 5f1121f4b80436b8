// SPDX-License-Identifier: Apache-2.0

/// An error that ends the run as failed without a retry.
///
/// Throw it from a handler when another attempt would fail too. It overrides `retry` of the task in
/// `tasks.json`. With `"policy": "exponential"` the request becomes a dead letter; any other error
/// is retried.
public struct PermanentFailure: LocatedError {
    /// What went wrong, as a message for people.
    public var reason: String
    /// Where it was made; the host stores it with the run.
    public let place: SourcePlace?

    /// Creates the error.
    public init(_ reason: String, fileID: String = #fileID, line: Int = #line) {
        self.reason = reason
        place = SourcePlace(fileID: fileID, line: line)
    }
}
