// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Synchronization

/// Limits the number of log lines per second, and counts the dropped ones.
final class LogRate: Sendable {
    private struct State {
        var second: UInt64 = 0
        var count: UInt32 = 0
        var dropped: UInt32 = 0
    }

    private let state = Mutex(State())

    /// Whether a line may pass now, and how many were dropped before it.
    func admit() -> (passes: Bool, dropped: UInt32) {
        let second = bgs_monotonic_coarse_ns() / 1_000_000_000
        return state.withLock { state in
            if second != state.second {
                state.second = second
                state.count = 0
            }
            guard state.count < RuntimeLimits.logLinesPerSecond else {
                state.dropped &+= 1
                return (false, 0)
            }
            state.count += 1
            defer { state.dropped = 0 }
            return (true, state.dropped)
        }
    }

    /// Returns and resets the number of dropped lines that have not been reported.
    func resetDropped() -> UInt32 {
        state.withLock { state in
            defer { state.dropped = 0 }
            return state.dropped
        }
    }
}
