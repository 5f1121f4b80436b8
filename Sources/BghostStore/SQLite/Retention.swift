// SPDX-License-Identifier: Apache-2.0

extension SQLiteStore {
    /// How much of the past is kept.
    package struct Retention: Equatable, Sendable {
        /// Bounds of one table; what is beyond any of them goes, the oldest first.
        package struct Limits: Equatable, Sendable {
            /// Rows.
            package var count: Int
            /// Nanoseconds.
            package var age: Int64
            /// About as many bytes as the rows take.
            package var bytes: Int64
            /// Old rows go in steps of about this many, so that up to so many more stay.
            package var chunk: Int

            package init(
                count: Int,
                age: Int64 = 30 * 86_400_000_000_000,
                bytes: Int64,
                chunk: Int = 64
            ) {
                self.count = max(1, count)
                self.age = max(0, age)
                self.bytes = max(0, bytes)
                self.chunk = min(max(1, chunk), 1 << 16)
            }
        }

        package var runs: Limits
        package var journal: Limits

        package init(
            runs: Limits = Limits(count: 100_000, bytes: 256 << 20),
            journal: Limits = Limits(count: 1_000_000, bytes: 256 << 20)
        ) {
            self.runs = runs
            self.journal = journal
        }
    }
}
