// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostTerminal

/// The text output of `bghost uses`.
package struct UsesView {
    package let uses: [UseStatus]

    package init(uses: [UseStatus]) {
        self.uses = uses
    }

    package func text(_ style: Style) -> String {
        guard !uses.isEmpty else {
            return "no such task learns when it is used: have one with \"learnsUse\": true and a"
                + " `tolerance` in the manifest\n"
        }
        var table = TextTable(header: ["TASK", "DAYS", "USUALLY USED FROM"])
        for use in uses {
            let usual = use.usual.map { "\($0.time) UTC (\($0.days) days)" }
            table.add([
                .init(TerminalText.escaped(use.task)),
                .init("\(use.days)"),
                .init(usual.isEmpty ? "nothing is usual yet" : usual.joined(separator: ", ")),
            ])
        }
        return table.text(style)
    }
}
