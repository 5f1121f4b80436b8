// SPDX-License-Identifier: Apache-2.0

/// A table with aligned columns.
package struct TextTable: Sendable {
    /// A cell: its text, which must be safe for terminals, and its tone.
    package struct Cell: Sendable, ExpressibleByStringLiteral {
        package var text: String
        package var tone: Style.Tone?

        package init(_ text: String, _ tone: Style.Tone? = nil) {
            self.text = text
            self.tone = tone
        }

        package init(stringLiteral text: String) { self.init(text) }
    }

    private let header: [String]
    private var rows: [[Cell]] = []

    /// - Parameter header: one title for each column.
    package init(header: [String]) {
        self.header = header
    }

    package mutating func add(_ row: [Cell]) {
        precondition(row.count == header.count, "a row has one cell for each title")
        rows.append(row)
    }

    /// The lines of the table, with line breaks; on a terminal, cells are cut so that a line fits.
    ///
    /// Columns without text are omitted. Times are those of the host's zone.
    package func text(_ style: Style) -> String {
        let kept = header.indices.filter { column in
            rows.contains { !$0[column].text.isEmpty }
        }
        guard !kept.isEmpty else { return "" }
        let titles = header.map { Cell($0, .dim) }
        let lines =
            [titles]
            + rows.map { row in row.map { Cell(LocalTime.text($0.text), $0.tone) } }
        let widths = fitting(
            kept.map { column in lines.map { DisplayWidth.of($0[column].text) }.max() ?? 0 },
            titles: kept.map { DisplayWidth.of(header[$0]) },
            in: style.width
        )
        return lines.map { row in
            // Do not pad after the last filled cell, so that no line ends with spaces.
            let last = kept.lastIndex { !row[$0].text.isEmpty } ?? kept.startIndex
            return kept.indices.prefix(through: last).map { index in
                let cell = row[kept[index]]
                let text = style.cut(cell.text, to: widths[index])
                let fill = index == last ? 0 : widths[index] - DisplayWidth.of(text)
                return style.painted(text, cell.tone) + String(repeating: " ", count: fill)
            }.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// No column is made narrower than this by the width of the terminal.
    static let columnMin = 16

    /// The widths of columns whose lines fit into a terminal: the widest column gives first.
    ///
    /// A column is at least as wide as its title and ``columnMin``, so on a very narrow terminal lines wrap.
    private func fitting(_ widths: [Int], titles: [Int], in width: Int?) -> [Int] {
        guard let width else { return widths }
        var widths = widths
        var excess = widths.reduce(2 * (widths.count - 1), +) - width
        while excess > 0 {
            let order = widths.indices.sorted { widths[$0] > widths[$1] }
            let widest = order[0]
            let least = max(titles[widest], Self.columnMin)
            guard widths[widest] > least else { break }
            // Down to the next widest column, and then both give.
            let next = order.count > 1 ? widths[order[1]] : 0
            let step = min(excess, max(1, widths[widest] - max(least, next)))
            widths[widest] -= step
            excess -= step
        }
        return widths
    }
}
