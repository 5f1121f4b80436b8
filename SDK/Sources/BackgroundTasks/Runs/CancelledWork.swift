// SPDX-License-Identifier: Apache-2.0

/// An error that may say, as `CancellationError` does, that its work was cancelled.
package protocol CancelledWork: Error {
    /// Whether the error reports a cancellation.
    var isCancellation: Bool { get }
}
