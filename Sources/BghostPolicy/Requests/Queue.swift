// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue; `append` and `removeFirst` take amortized constant time.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }

    var first: Element? { head < elements.count ? elements[head] : nil }

    /// The elements, the oldest first.
    var all: [Element] { elements[head...].compactMap { $0 } }

    func contains(where isWanted: (Element) -> Bool) -> Bool {
        elements[head...].contains { $0.map(isWanted) ?? false }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        elements[head] = nil
        head += 1
        guard head == elements.count || head > 1024 else { return }
        elements.removeFirst(head)
        head = 0
    }
}
