// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// One change that the store has recorded, as a line of its journal.
package struct JournalLine: Equatable, Sendable {
    /// Increases by one from line to line, also across restarts.
    package let number: Int64
    /// When it was recorded, Unix nanoseconds.
    package let at: Int64
    /// `accepted`, `began`, `ended`, `fenced`, `redriven`, `discarded`, `moved`, `remembered`,
    /// `switchedOff`, `switchedOn`, or how a request ended without a run.
    package let event: String
    package let request: RunID?
    package let task: String?
    package let run: RunID?
    package let detail: String?
}
