// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
package import BghostModel
package import BghostTerminal

extension Outcome {
    /// The sign of the outcome.
    package var mark: Style.Mark {
        switch self {
        case .succeeded: .good
        case .cancelledClean: .warning
        case .failed, .killed, .crashed, .lost, .abandoned: .bad
        }
    }
}

extension RunRecord {
    /// The outcome, or the state of a run in progress.
    package var standing: String { outcome?.text ?? state.rawValue }

    /// The sign of the outcome or state.
    package var mark: Style.Mark {
        guard let outcome else {
            return state == .cancelling || state == .killing ? .warning : .none
        }
        return outcome.mark
    }

    /// The duration so far or in total; "" if the handler did not start.
    package func elapsed(now: Int64) -> String {
        if let duration { return HumanText.duration(duration) }
        guard state != .ended, let startedAt else { return "" }
        return HumanText.duration(.nanoseconds(max(0, now - startedAt)))
    }

    /// The message in one line, safe for terminals.
    package var safeMessage: String { TerminalText.escaped(message) }

    /// The reported progress; "" if there is none.
    package var progressText: String { progress?.text ?? "" }
}

extension RunProgress {
    /// The share that is done, rounded down; `nil` if the total is unknown.
    package var percent: Int? {
        guard total > 0 else { return nil }
        return min(Int((Double(done) / Double(total) * 100).rounded(.down)), 100)
    }

    /// How far the run is, safe for terminals.
    package var text: String {
        let phase = TerminalText.escaped(self.phase)
        guard let percent else {
            return phase.isEmpty ? "\(done) done" : "\(phase), \(done) done"
        }
        return (phase.isEmpty ? "" : phase + " ") + "\(percent) %"
    }
}
