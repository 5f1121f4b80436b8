// SPDX-License-Identifier: Apache-2.0

/// Long lists of the reactor's thread, which are made in parts and sorted elsewhere.
enum ListOrder {
    /// How many elements are made before deadlines and frames of workers get their turn.
    static let partMax = 1024

    /// Sorts a list on a thread of the pool: the reactor holds the limits of runs meanwhile.
    @concurrent
    static func sorted<Element: Sendable, Key: Comparable>(
        _ list: [Element],
        by key: @Sendable (Element) -> Key
    ) async -> [Element] {
        list.sorted { key($0) < key($1) }
    }
}
