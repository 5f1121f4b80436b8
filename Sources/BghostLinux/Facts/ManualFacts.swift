// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import Synchronization

/// A source for tests that reports the readings it is given.
package final class ManualFacts: FactSource, Sendable {
    package let requirements: RequirementSet
    private let state = Mutex(State())

    private struct State {
        var inbox: FactInbox.Slot?
        /// Readings given before the start.
        var early: [FactReading] = []
    }

    package init(_ requirements: RequirementSet) {
        self.requirements = requirements
    }

    /// Reports a reading, from any thread.
    package func tell(_ reading: FactReading) {
        let inbox = state.withLock { state in
            if state.inbox == nil { state.early.append(reading) }
            return state.inbox
        }
        inbox?.post(.readings([reading]))
    }

    /// Reports a measure, from any thread.
    package func tell(_ requirement: RequirementSet, _ measure: FactMeasure, text: String = "set") {
        tell(FactReading(requirement, measure, text: text, source: "manual"))
    }

    // MARK: FactSource

    package var deadline: UInt64 { .max }

    package func start(_ desk: FactDesk, now: UInt64) {
        let early = state.withLock { state in
            state.inbox = desk.inbox
            defer { state.early = [] }
            return state.early
        }
        for reading in early { desk.tell(reading) }
    }

    package func look(now: UInt64) {}

    package func ready(_ token: UInt64, _ readiness: Readiness, now: UInt64) {}

    package func received(_ message: FactMessage, now: UInt64) {}

    package func stop() {}
}
