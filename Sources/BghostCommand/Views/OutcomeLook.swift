// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords

extension Outcome {
    /// How it is shown.
    package var mark: Style.Mark {
        switch self {
        case .succeeded: .good
        case .cancelledClean: .warning
        case .failed, .killed, .crashed, .lost, .abandoned: .bad
        }
    }
}

extension RunRecord {
    /// How it ended, or where it stands.
    package var standing: String { outcome?.text ?? state.rawValue }

    /// The sign of its standing.
    package var mark: Style.Mark {
        guard let outcome else {
            return state == .cancelling || state == .killing ? .warning : .none
        }
        return outcome.mark
    }

    /// How long it took, or has been under way; "" if its handler was never started.
    package func elapsed(now: Int64) -> String {
        if let duration { return HumanText.duration(duration) }
        guard state != .ended, let startedAt else { return "" }
        return HumanText.duration(.nanoseconds(max(0, now - startedAt)))
    }

    /// Its message, safe for terminals and on one line.
    package var safeMessage: String { TerminalText.escaped(message) }

    /// How far it says it is; "" if it said nothing.
    package var progressText: String {
        guard let progress else { return "" }
        let phase = TerminalText.escaped(progress.phase)
        guard progress.total > 0 else {
            return phase.isEmpty ? "\(progress.done) done" : "\(phase), \(progress.done) done"
        }
        let share = Int((Double(progress.done) / Double(progress.total) * 100).rounded(.down))
        return (phase.isEmpty ? "" : phase + " ") + "\(min(share, 100)) %"
    }
}
