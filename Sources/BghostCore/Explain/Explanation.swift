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

    /// When it may begin at the earliest, Unix nanoseconds.
    package var earliestStart: Int64 { closed.compactMap(\.until).reduce(at, max) }

    /// Whether `earliestStart` is all that is to be waited for, and not only the least.
    package var isCertain: Bool { closed.allSatisfy { $0.until != nil } }

    /// What would have it begin now, one sentence for each closed gate that somebody can open.
    package var remedies: [String] { closed.map(\.remedy).filter { !$0.isEmpty } }
}
