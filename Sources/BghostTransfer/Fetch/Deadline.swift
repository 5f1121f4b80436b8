// SPDX-License-Identifier: Apache-2.0

/// Ends work that takes too long.
enum Deadline {
    /// Far beyond any run, and far from where clocks overflow.
    private static let longest = Duration.seconds(365 * 86_400)

    /// Runs work, and cancels it once the time is over.
    ///
    /// Returns when the work has returned, so the work must heed its cancellation.
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
                    // The caller was cancelled, and so is the work, which says so itself.
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
