// SPDX-License-Identifier: Apache-2.0

/// Cancels work at a timeout.
enum Deadline {
    /// A year is far beyond any run, and far from an overflow of the clock.
    private static let longest = Duration.seconds(365 * 86_400)

    /// Runs work, and cancels it when the timeout has passed.
    ///
    /// Returns when the work has returned, so the work must respond to its cancellation.
    static func limiting<Value: Sendable>(
        to timeout: Duration,
        _ work: @escaping @Sendable () async -> Result<Value, FetchFailure>
    ) async -> Result<Value, FetchFailure> {
        await withTaskGroup(of: Result<Value, FetchFailure>?.self) { group in
            group.addTask { await work() }
            group.addTask {
                do {
                    try await Task.sleep(for: min(timeout, longest))
                    return .failure(.timedOut(after: timeout))
                } catch {
                    // The caller was cancelled. The work is cancelled too and returns the result.
                    return nil
                }
            }
            defer { group.cancelAll() }
            for await result in group {
                if let result { return result }
            }
            return .failure(.cancelled)
        }
    }
}
