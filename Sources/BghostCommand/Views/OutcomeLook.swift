// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import BghostTerminal

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
    var progressText: String { progress?.text ?? "" }
}

extension RunProgress {
    /// The share that is done, rounded down; `nil` if the total is unknown.
    var percent: Int? {
        guard total > 0 else { return nil }
        return min(Int((Double(done) / Double(total) * 100).rounded(.down)), 100)
    }

    /// How far the run is, safe for terminals.
    var text: String {
        let phase = TerminalText.escaped(self.phase)
        guard let percent else {
            return phase.isEmpty ? "\(done) done" : "\(phase), \(done) done"
        }
        return (phase.isEmpty ? "" : phase + " ") + "\(percent) %"
    }
}
