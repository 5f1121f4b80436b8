// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The text output of `bghost audit`.
package struct AuditView {
    package let page: API.AuditRows
    /// Unix nanoseconds.
    package let now: Int64

    package init(_ page: API.AuditRows, now: Int64) {
        self.page = page
        self.now = now
    }

    package func text(_ style: Style) -> String {
        guard !page.rows.isEmpty else { return "no such rows\n" + end }
        var table = TextTable(header: ["ROW", "TIME", "WHO", "VERB", "TARGET", "STATUS"])
        for row in page.rows.reversed() {
            table.add([
                .init("\(row.seq)"),
                .init(HumanText.time(row.at, now: now)),
                .init(TerminalText.escaped(Self.actor(row))),
                .init(TerminalText.escaped(row.verb)),
                .init(TerminalText.escaped(row.target)),
                .init(TerminalText.escaped(Self.status(row))),
            ])
        }
        return table.text(style) + end
    }

    /// The text output of `bghost changes`: a line for each row, and what it changed below.
    package func changes(_ style: Style) -> String {
        guard !page.rows.isEmpty else { return "nothing was changed\n" + end }
        return page.rows.reversed().map { row in
            let words = [Self.actor(row), row.verb, row.target].filter { !$0.isEmpty }
            let time = style.painted(HumanText.time(row.at, now: now), .dim)
            let detail = row.detail.split(separator: "\n")
                .map { "  \(TerminalText.escaped(String($0)))\n" }.joined()
            return "\(time)  \(words.map(TerminalText.escaped).joined(separator: "  "))\n\(detail)"
        }.joined() + end
    }

    private var end: String { page.next.map { "older ones: --before \($0)\n" } ?? "" }

    /// One line without a line break, for rows that follow each other.
    package static func line(_ row: API.AuditRow, now: Int64) -> String {
        let words = [
            "\(row.seq)", HumanText.time(row.at, now: now), actor(row), row.verb, row.target,
            status(row),
        ]
        return words.filter { !$0.isEmpty }.map(TerminalText.escaped).joined(separator: "  ")
    }

    /// Such as `anna (1000) web/3f2a…`.
    private static func actor(_ row: API.AuditRow) -> String {
        let number = row.uid.map(String.init)
        let user =
            if let number, !row.user.isEmpty { "\(row.user) (\(number))" } else { number ?? "" }
        let way = row.session.isEmpty ? row.via : "\(row.via)/\(row.session)"
        return user.isEmpty ? way : "\(user) \(way)"
    }

    private static func status(_ row: API.AuditRow) -> String {
        row.code.isEmpty ? row.status : "\(row.status) \(row.code)"
    }

    package static func text(_ check: API.AuditCheck) -> String {
        let deleted =
            check.deleted == 0 ? "" : "; \(check.deleted) older ones were deleted in order"
        let rows = CountText.of(Int(clamping: check.rows), "row")
        guard let found = check.firstBreak else {
            let head = check.head.isEmpty ? "" : "the last is \(TerminalText.escaped(check.head))\n"
            return "the audit is intact: \(rows)\(deleted)\n\(head)"
        }
        return "the audit is broken at row \(found.seq): \(TerminalText.escaped(found.what))\n"
            + "before that: \(rows)\(deleted)\n"
    }
}
