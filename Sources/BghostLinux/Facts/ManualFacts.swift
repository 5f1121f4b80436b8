// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import Synchronization

/// A source for tests that reports the readings it is given.
final class ManualFacts: FactSource, Sendable {
    let requirements: RequirementSet
    private let state = Mutex(State())

    private struct State {
        var inbox: FactInbox.Slot?
        /// Readings given before the start.
        var early: [FactReading] = []
    }

    init(_ requirements: RequirementSet) {
        self.requirements = requirements
    }

    /// Reports a reading, from any thread.
    func report(_ reading: FactReading) {
        let inbox = state.withLock { state in
            if state.inbox == nil { state.early.append(reading) }
            return state.inbox
        }
        inbox?.post(.readings([reading]))
    }

    /// Reports a measure, from any thread.
    func report(_ requirement: RequirementSet, _ measure: FactMeasure, text: String = "set") {
        report(FactReading(requirement, measure, text: text, source: "manual"))
    }

    // MARK: FactSource

    var deadline: MonotonicInstant { .never }

    func start(_ context: FactSourceContext, now: MonotonicInstant) {
        let early = state.withLock { state in
            state.inbox = context.inbox
            defer { state.early = [] }
            return state.early
        }
        for reading in early { context.report(reading) }
    }

    func poll(now: MonotonicInstant) {}

    func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant) {}

    func received(_ message: FactMessage, now: MonotonicInstant) {}

    func stop() {}
}
