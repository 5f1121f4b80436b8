// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// One change that the store has recorded, as a line of its journal.
struct JournalLine: Equatable, Sendable {
    /// Increases by one from line to line, also across restarts.
    let number: Int64
    /// When it was recorded, Unix nanoseconds.
    let at: Int64
    /// `accepted`, `began`, `ended`, `fenced`, `redriven`, `discarded`, `moved`, `remembered`,
    /// `switchedOff`, `switchedOn`, or how a request ended without a run.
    let event: String
    let request: RunID?
    let task: String?
    let run: RunID?
    let detail: String?
}
