// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Schedules retries of transactions that could not be written: with growing pauses, and earlier
/// after a hint that there is room again.
///
/// Pure: it reads no clock.
struct CommitRetry: Sendable {
    /// The first pause; each further pause is twice as long.
    static let pauseMin: UInt64 = 100_000_000
    static let pauseMax: UInt64 = 5_000_000_000
    /// The longest pause while the daemon waits for them at shutdown.
    static let closingPauseMax: UInt64 = 250_000_000
    /// The least time between an attempt and a retry that a hint advances, so that repeated hints
    /// cost at most twenty transactions a second.
    static let hintPause: UInt64 = 50_000_000

    private var pause: UInt64 = 0
    private var triedAt: MonotonicInstant = .zero
    /// When the next attempt is due.
    private(set) var due: MonotonicInstant = .zero
    /// Whether the daemon waits for this at shutdown.
    var isClosing = false {
        didSet { if isClosing { due = min(due, triedAt + Self.closingPauseMax) } }
    }

    init() {}

    /// Records a failed attempt.
    mutating func failed(now: MonotonicInstant) {
        let most = isClosing ? Self.closingPauseMax : Self.pauseMax
        pause = min(max(Self.pauseMin, pause &* 2), most)
        triedAt = now
        due = now + pause
    }

    /// Records a successful attempt.
    mutating func succeeded() { pause = 0 }

    /// Advances the next attempt, since an operator or an event suggests that there is room.
    mutating func hint() { due = min(due, triedAt + Self.hintPause) }
}
