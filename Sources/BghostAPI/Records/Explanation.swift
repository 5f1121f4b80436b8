// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Explains why a request has not started: all gates, and the resulting start time.
package struct Explanation: Equatable, Sendable {
    package var request: PendingRequest
    /// In the order of `Gate.Kind`, with one gate for each requirement.
    package var gates: [Gate]
    /// The time of the explanation, Unix nanoseconds.
    var at: Int64

    package init(request: PendingRequest, gates: [Gate], at: Int64) {
        self.request = request
        self.gates = gates
        self.at = at
    }

    package var closed: [Gate] { gates.filter { !$0.isOpen } }

    /// The unmet gate to look at first; `nil` if all are met.
    ///
    /// It is one that does not unblock by itself, if possible one that people can unblock; otherwise the one
    /// that unblocks last.
    package var blocker: Gate? {
        let closed = closed
        let stuck = closed.filter { $0.until == nil }
        if let first = stuck.first(where: { !$0.remedy.isEmpty }) ?? stuck.first { return first }
        return closed.max { $0.until ?? .min < $1.until ?? .min }
    }

    /// The earliest start, and whether it is certain.
    var outlook: StartOutlook {
        StartOutlook(gates: gates, latest: request.latestBegin, at: at)
    }

    /// The earliest start, Unix nanoseconds; `nil` if the request can no longer start.
    package var earliestStart: Int64? { outlook.earliest }

    /// Whether the request starts at `earliestStart` if nothing else changes.
    package var isCertain: Bool { outlook.isCertain }

    /// The changes that would start it now, as a sentence without a full stop; `nil` if there are none.
    package var counterfactual: String? {
        let closed = closed
        guard !closed.isEmpty, closed.allSatisfy({ !$0.condition.isEmpty }) else { return nil }
        let conditions = closed.map(\.condition)
        let head = conditions.dropLast().joined(separator: ", ")
        return "would start now if " + (head.isEmpty ? "" : "\(head) and ")
            + conditions[closed.count - 1]
    }

    /// How to unblock the unmet gates, one sentence for each that the operator can unblock.
    var remedies: [String] { closed.map(\.remedy).filter { !$0.isEmpty } }
}
