// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel

extension Outcome {
    /// The sign of the outcome.
    var mark: Style.Mark {
        switch self {
        case .succeeded: .good
        case .cancelledClean: .warning
        case .failed, .killed, .crashed, .lost, .abandoned: .bad
        }
    }
}

extension RunRecord {
    /// The outcome, or the state of a run in progress.
    var standing: String { outcome?.text ?? state.rawValue }

    /// The sign of the outcome or state.
    var mark: Style.Mark {
        guard let outcome else {
            return state == .cancelling || state == .killing ? .warning : .none
        }
        return outcome.mark
    }

    /// The duration so far or in total; "" if the handler did not start.
    func elapsed(now: Int64) -> String {
        if let duration { return HumanText.duration(duration) }
        guard state != .ended, let startedAt else { return "" }
        return HumanText.duration(.nanoseconds(max(0, now - startedAt)))
    }

    /// The message in one line, safe for terminals.
    var safeMessage: String { TerminalText.escaped(message) }

    /// The reported progress; "" if there is none.
    var progressText: String {
        guard let progress else { return "" }
        let phase = TerminalText.escaped(progress.phase)
        guard progress.total > 0 else {
            return phase.isEmpty ? "\(progress.done) done" : "\(phase), \(progress.done) done"
        }
        let share = Int((Double(progress.done) / Double(progress.total) * 100).rounded(.down))
        return (phase.isEmpty ? "" : phase + " ") + "\(min(share, 100)) %"
    }
}
