// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Delays the changes of a fact, so that it does not alternate quickly.
///
/// ```
///                 good for risesAfter
///        fails ───────────────────────► holds
///          ▲   ◄───────────────────────   │
///          │       bad for fallsAfter     │
///    known │                              │ unknown
///          └────────── unknown ◄──────────┘
/// ```
///
/// It is a value.
struct Hysteresis: Equatable, Sendable {
    let rule: FactRule
    private(set) var value: FactValue = .unknown
    /// Since when all measures indicate the other value.
    private var streakSince: MonotonicInstant?

    init(_ rule: FactRule) {
        self.rule = rule
    }

    /// When the value changes without a further measure.
    var deadline: MonotonicInstant? {
        guard let streakSince else { return nil }
        return streakSince + (value == .holds ? rule.fallsAfter : rule.risesAfter)
    }

    /// Applies a measure.
    mutating func update(_ signal: FactRule.Signal, now: MonotonicInstant) {
        switch (value, signal) {
        case (_, .unknown):
            value = .unknown
            streakSince = nil
        case (.unknown, .between):
            value = rule.between
        case (.unknown, .good):
            // The value is `fails` until the measures have been good for `risesAfter`.
            value = .fails
            streakSince = now
        case (.unknown, .bad):
            value = rule.fallsAfter > 0 ? rule.between : .fails
            if value == .holds { streakSince = now }
        case (.holds, .bad), (.fails, .good):
            if streakSince == nil { streakSince = now }
        case (.holds, _), (.fails, _):
            streakSince = nil
        }
        advance(now: now)
    }

    /// Applies the passing of time.
    mutating func advance(now: MonotonicInstant) {
        guard let deadline, now >= deadline else { return }
        value = value == .holds ? .fails : .holds
        streakSince = nil
    }
}
