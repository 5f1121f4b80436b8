// SPDX-License-Identifier: Apache-2.0

/// The next start of a schedule.
package struct ScheduleOutlook: Equatable, Sendable {
    /// The schedule in words.
    package var text: String
    /// The next start, Unix nanoseconds; `nil` if there is none.
    package var next: Int64?

    package init(text: String, next: Int64?) {
        self.text = text
        self.next = next
    }
}
