// SPDX-License-Identifier: Apache-2.0

extension SQLiteStore {
    /// How much history is kept.
    package struct Retention: Equatable, Sendable {
        /// The limits of one table; rows beyond any limit are deleted, the oldest first.
        struct Limits: Equatable, Sendable {
            /// Rows.
            var count: Int
            /// Nanoseconds.
            var age: Int64
            /// The approximate size of the rows, bytes.
            var bytes: Int64
            /// Rows are deleted in steps of about this many, so up to this many more remain.
            var chunk: Int

            init(
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

        var runs: Limits
        /// Changes; only the newest row of the journal is read.
        var journal: Limits
        /// The output of runs.
        var outputs: Limits

        init(
            runs: Limits = Limits(count: 100_000, bytes: 256 << 20),
            journal: Limits = Limits(count: 1, bytes: .max),
            outputs: Limits = Limits(count: 100_000, bytes: 64 << 20)
        ) {
            self.runs = runs
            self.journal = journal
            self.outputs = outputs
        }
    }
}
