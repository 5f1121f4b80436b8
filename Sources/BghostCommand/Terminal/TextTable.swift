// SPDX-License-Identifier: Apache-2.0

/// A table with aligned columns.
struct TextTable: Sendable {
    /// A cell: its text, which must be safe for terminals, and its tone.
    struct Cell: Sendable, ExpressibleByStringLiteral {
        var text: String
        var tone: Style.Tone?

        init(_ text: String, _ tone: Style.Tone? = nil) {
            self.text = text
            self.tone = tone
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    private let header: [String]
    private var rows: [[Cell]] = []

    /// - Parameter header: one title for each column.
    init(header: [String]) {
        self.header = header
    }

    mutating func add(_ row: [Cell]) {
        precondition(row.count == header.count, "a row has one cell for each title")
        rows.append(row)
    }

    /// The lines of the table, with line breaks.
    ///
    /// Columns without text are omitted.
    func text(_ style: Style) -> String {
        let kept = header.indices.filter { column in
            rows.contains { !$0[column].text.isEmpty }
        }
        guard !kept.isEmpty else { return "" }
        let titles = header.map { Cell($0, .dim) }
        let widths = kept.map { column in
            ([titles] + rows).map { DisplayWidth.of($0[column].text) }.max() ?? 0
        }
        return ([titles] + rows).map { row in
            // Do not pad after the last filled cell, so that no line ends with spaces.
            let last = kept.lastIndex { !row[$0].text.isEmpty } ?? kept.startIndex
            return kept.indices.prefix(through: last).map { index in
                let cell = row[kept[index]]
                let fill = index == last ? 0 : widths[index] - DisplayWidth.of(cell.text)
                return style.painted(cell.text, cell.tone) + String(repeating: " ", count: fill)
            }.joined(separator: "  ") + "\n"
        }.joined()
    }
}
