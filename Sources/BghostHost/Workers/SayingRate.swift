// SPDX-License-Identifier: Apache-2.0

/// Holds a worker to a rate of frames that nobody asked for: log lines and progress.
///
/// The runtime in the worker keeps to lower ones of its own, so whoever is above this one has written
/// to the socket past it. A little is dropped and counted, for what a busy daemon reads late comes
/// in a bunch; much more is a reason to end the worker.
struct SayingRate {
    /// What is to become of a frame.
    enum Verdict {
        case taken
        case dropped
        case flood
    }

    /// In any one second of the daemon's clock: of 1000 lines and 20 steps of each run with room to spare.
    static let perSecond = 8000
    static let droppedMax = 100_000

    private var second: UInt64 = 0
    private var count = 0
    /// Frames that were dropped and have not been told of.
    private(set) var dropped = 0

    /// Judges the next frame.
    ///
    /// - Parameter now: monotonic nanoseconds.
    mutating func admit(now: UInt64) -> Verdict {
        let current = now / 1_000_000_000
        if current != second {
            second = current
            count = 0
        }
        count += 1
        guard count > Self.perSecond else { return .taken }
        dropped += 1
        return count > Self.perSecond + Self.droppedMax ? .flood : .dropped
    }

    /// How many were dropped since the last call.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }
}
