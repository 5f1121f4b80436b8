// SPDX-License-Identifier: Apache-2.0

/// Why a request has not begun: every gate, open or not, and what follows from them.
package struct Explanation: Equatable, Sendable {
    package var request: PendingRequest
    /// In the order of `Gate.Kind`; requirements one by one.
    package var gates: [Gate]
    /// The moment of it, Unix nanoseconds.
    package var at: Int64

    package init(request: PendingRequest, gates: [Gate], at: Int64) {
        self.request = request
        self.gates = gates
        self.at = at
    }

    package var closed: [Gate] { gates.filter { !$0.isOpen } }

    /// When it may begin at the earliest, Unix nanoseconds; `nil` if it cannot begin any more.
    package var earliestStart: Int64? {
        guard closed.allSatisfy({ !$0.condition.isEmpty }) else { return nil }
        let start = closed.compactMap(\.until).reduce(at, max)
        if let latest = request.latestBegin, latest < start { return nil }
        return start
    }

    /// Whether it begins at `earliestStart` as things stand, and not only no earlier: all that keeps
    /// it back ends by itself, at a time that is known.
    package var isCertain: Bool {
        earliestStart != nil && closed.allSatisfy { $0.until != nil }
    }

    /// What would have it begin now, as a sentence without a full stop; `nil` if nothing would.
    package var counterfactual: String? {
        let closed = closed
        guard !closed.isEmpty, closed.allSatisfy({ !$0.condition.isEmpty }) else { return nil }
        let conditions = closed.map(\.condition)
        let head = conditions.dropLast().joined(separator: ", ")
        return "would start now if " + (head.isEmpty ? "" : "\(head) and ")
            + conditions[closed.count - 1]
    }

    /// What would open what is closed, one sentence for each gate that somebody can open.
    package var remedies: [String] { closed.map(\.remedy).filter { !$0.isEmpty } }
}
