// SPDX-License-Identifier: Apache-2.0

internal import BghostServices

/// The output of an executor that belongs to no single run: that of several runs at once, or outside of runs.
struct SharedOutput {
    enum Verdict { case kept, firstDropped, dropped, tooMuch }

    /// What a dropped line counts beside its bytes: it takes the daemon more time than they do.
    private static let droppedLineCost = 64

    private(set) var bytes = 0

    /// - Parameter runs: the runs in progress, with the new one.
    mutating func runBegan(runs: Int) {
        if runs == 1 { bytes = 0 }
    }

    /// Removes the share of a run that ends; nothing tells which run wrote a line.
    ///
    /// - Parameters:
    ///   - runs: the runs in progress, with the one that ends.
    ///   - limit: the limit of one run, bytes.
    mutating func runEnded(runs: Int, limit: Int) {
        bytes -= min(limit, bytes / max(1, runs))
    }

    /// Counts a line.
    ///
    /// - Parameter limit: the limit of all runs in progress together, bytes.
    mutating func add(_ count: Int, limit: Int) -> Verdict {
        let wasOver = bytes > limit
        bytes += count + (wasOver ? Self.droppedLineCost : 0)
        guard bytes > limit else { return .kept }
        if Self.isTooMuch(bytes, limit: limit) { return .tooMuch }
        return wasOver ? .dropped : .firstDropped
    }

    /// Whether output is so far over its limit that its run is killed.
    ///
    /// - Parameter lines: how many lines were dropped that are counted in `bytes` without their cost.
    static func isTooMuch(_ bytes: Int, lines: Int = 0, limit: Int) -> Bool {
        bytes + lines &* droppedLineCost > limit &* HostLimits.outputFactor + (1 << 20)
    }
}
