// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The spans that wait to be sent, oldest first, in bounded memory.
package struct SpanQueue: Sendable {
    private var spans: [Span?]
    private var first = 0
    package private(set) var count = 0
    /// The number of places that were written or emptied: the work, which tests count.
    package private(set) var placesVisited = 0

    /// - Parameter capacity: the most spans, at least 1.
    package init(capacity: Int) { spans = Array(repeating: nil, count: max(1, capacity)) }

    /// Adds a span at the end.
    ///
    /// - Returns: whether the oldest one was dropped for it.
    package mutating func append(_ span: Span) -> Bool {
        let isFull = count == spans.count
        if isFull {
            first = (first + 1) % spans.count
            count -= 1
        }
        spans[(first + count) % spans.count] = span
        placesVisited += 1
        count += 1
        return isFull
    }

    /// Removes the oldest spans.
    package mutating func take(_ most: Int) -> [Span] {
        var taken: [Span] = []
        while taken.count < most, count > 0 {
            placesVisited += 1
            if let span = spans[first] { taken.append(span) }
            spans[first] = nil
            first = (first + 1) % spans.count
            count -= 1
        }
        return taken
    }
}
