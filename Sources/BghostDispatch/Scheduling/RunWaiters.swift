// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// The callers that wait for the run of a request to end.
///
/// Each caller has a number, so that a cancelled caller can leave alone. Every continuation is resumed
/// exactly once: by ``finish(_:with:)``, or by the caller of ``remove(_:for:)``. Use it on the host's executor only.
/// Each call costs O(1) in the number of requests, and O(callers) of the request concerned.
package final class RunWaiters {
    package typealias Continuation = CheckedContinuation<RunRecord?, Never>

    private var callers: [RunID: [UInt64: Continuation]] = [:]
    private var lastNumber: UInt64 = 0

    package init() {}

    /// The number of requests for which a caller waits.
    var count: Int { callers.count }

    /// Returns a number for a new caller.
    package func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a caller.
    ///
    /// - Parameter number: from ``makeNumber()``.
    package func add(_ continuation: Continuation, number: UInt64, for request: RunID) {
        callers[request, default: [:]][number] = continuation
    }

    /// Whether a caller waits for a request.
    package func isAwaited(_ request: RunID) -> Bool { callers[request] != nil }

    /// Removes a caller; the receiver resumes the continuation.
    ///
    /// - Returns: `nil` if the caller no longer waits.
    package func remove(_ number: UInt64, for request: RunID) -> Continuation? {
        guard let continuation = callers[request]?.removeValue(forKey: number) else { return nil }
        if callers[request]?.isEmpty == true { callers[request] = nil }
        return continuation
    }

    /// Resumes all callers of a request with its run, or with `nil` if there is no run.
    package func finish(_ request: RunID, with record: RunRecord?) {
        // Most runs have no caller.
        guard !callers.isEmpty, let waiting = callers.removeValue(forKey: request) else { return }
        for continuation in waiting.values { continuation.resume(returning: record) }
    }
}
