// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
package import BghostModel
package import BghostTerminal

/// The text output of `bghost checkpoints`.
package struct CheckpointsView {
    package let checkpoints: [CheckpointSummary]
    /// The cursor of the next page; `nil` if there is none.
    package let next: String?
    /// Unix nanoseconds.
    package let now: Int64

    package init(_ checkpoints: [CheckpointSummary], next: String? = nil, now: Int64) {
        self.checkpoints = checkpoints
        self.next = next
        self.now = now
    }

    package func text(_ style: Style) -> String {
        let more = NextPageView(next: next).text
        guard !checkpoints.isEmpty else { return more.isEmpty ? "no checkpoints\n" : more }
        var table = TextTable(
            header: ["REQUEST", "TASK", "PLUGIN", "SAVED", "SIZE", "ATTEMPT", "RUN"]
        )
        for saved in checkpoints {
            table.add([
                .init(saved.request.description),
                .init(TerminalText.escaped(saved.task)),
                .init(TerminalText.escaped(saved.plugin)),
                .init(HumanText.time(saved.savedAt, now: now)),
                .init(HumanText.bytes(UInt64(clamping: saved.length))),
                .init("\(saved.attempt)"),
                .init(saved.run.description, .dim),
            ])
        }
        return table.text(style) + more
    }

    /// One checkpoint in a clause, for texts about its request.
    static func clause(bytes: Int, attempt: Int, savedAt: Int64, now: Int64) -> String {
        "\(HumanText.bytes(UInt64(clamping: bytes))) of attempt \(attempt), saved"
            + " \(HumanText.time(savedAt, now: now))"
    }
}
