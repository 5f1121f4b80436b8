// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// One thing that the store has taken in, as its journal has it.
package struct JournalLine: Equatable, Sendable {
    /// Grows by one from line to line, over restarts too.
    package let number: Int64
    /// When it was kept, Unix nanoseconds.
    package let at: Int64
    /// `accepted`, `began`, `ended`, `fenced`, `redriven`, `discarded`, `remembered`,
    /// `switchedOff`, `switchedOn`, or how a request ended without a run.
    package let event: String
    package let request: RunID?
    package let task: String?
    package let run: RunID?
    package let detail: String?
}
