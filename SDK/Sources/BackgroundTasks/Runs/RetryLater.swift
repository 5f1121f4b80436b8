// SPDX-License-Identifier: Apache-2.0

/// An error that ends the run as failed and requests a retry.
///
/// Throw it from a handler.
public struct RetryLater: LocatedError {
    /// The least delay before the retry; with `nil`, the manifest determines it.
    public var after: Duration?
    /// What went wrong, as a message for people.
    public var reason: String
    /// Where it was made; the host stores it with the run.
    public let place: SourcePlace?

    /// Creates the error.
    public init(
        after: Duration? = nil,
        _ reason: String = "",
        fileID: String = #fileID,
        line: Int = #line
    ) {
        self.after = after
        self.reason = reason
        place = SourcePlace(fileID: fileID, line: line)
    }
}
