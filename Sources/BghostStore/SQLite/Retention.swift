// SPDX-License-Identifier: Apache-2.0

package import BghostModel

extension SQLiteStore {
    /// How much history is kept.
    package struct Retention: Equatable, Sendable {
        package var policy: HistoryPolicy
        /// The table is looked at once for so many new rows, so up to this many more remain.
        var chunk: Int

        package init(policy: HistoryPolicy = HistoryPolicy(), chunk: Int = 64) {
            self.policy = policy
            self.chunk = min(max(1, chunk), 1 << 16)
        }
    }
}
