// SPDX-License-Identifier: Apache-2.0

/// Suspends until the current task is cancelled, then throws `CancellationError`.
package func untilCancelled() async throws {
    let (stream, end) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    // The stream ends with its continuation.
    withExtendedLifetime(end) {}
    try Task.checkCancellation()
}
