// SPDX-License-Identifier: Apache-2.0

/// How the daemon keeps the audit of what others do to it: `host.audit`.
package struct AuditSettings: Equatable, Sendable {
    /// Whether the daemon refuses what it cannot note.
    package var isRequired: Bool
    /// Whether submissions of clients are noted too.
    package var notesSubmissions: Bool
    package var rows: Int
    package var age: Duration
    /// The approximate size of all rows, bytes.
    package var bytes: UInt64

    package init(
        isRequired: Bool = true,
        notesSubmissions: Bool = false,
        rows: Int = 100_000,
        age: Duration = .seconds(365 * 86_400),
        bytes: UInt64 = 64 << 20
    ) {
        self.isRequired = isRequired
        self.notesSubmissions = notesSubmissions
        self.rows = rows
        self.age = age
        self.bytes = bytes
    }
}
