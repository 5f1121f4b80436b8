// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The results, for people and for programs.
struct Report {
    let machine: Machine
    let results: [Result]
    let options: BenchOptions

    private static let heads = [
        "what", "unit", "value", "floor", "ratio", "target", "", "floor is",
    ]

    /// A table in Markdown, readable as it is.
    func print() {
        var lines = [Self.heads]
        for result in results {
            lines.append([
                result.row.name, result.row.unit,
                result.values.median?.readable ?? "-",
                result.floors.median?.readable ?? "-",
                result.ratios.median.map { $0.readable + "x" } ?? "-",
                result.row.target?.text ?? "-",
                result.verdict,
                result.row.floor?.name ?? "-",
            ])
        }
        let widths = Self.heads.indices.map { column in
            lines.map { $0[column].count }.max() ?? 0
        }
        Swift.print(machine.text)
        Swift.print(
            options.isShort
                ? "short: this run shows that the steps work, not how fast they are\n"
                : "medians of \(options.rounds) rounds, ratios within a round\n"
        )
        for (index, line) in lines.enumerated() {
            Swift.print(Self.line(line, widths))
            guard index == 0 else { continue }
            let rule = widths.indices.map { column in
                let dashes = String(repeating: "-", count: max(1, widths[column] - 1))
                return dashes + (Self.isNumber(column) ? ":" : "-")
            }
            Swift.print("|" + rule.map { "-\($0)-" }.joined(separator: "|") + "|")
        }
        printReasons()
    }

    private func printReasons() {
        for result in results {
            if let failure = result.failure {
                Swift.print("\n\(result.row.name): failed, \(failure)")
            } else if !options.isShort, result.isMet == false, !result.row.reason.isEmpty {
                Swift.print("\n\(result.row.name): missed, \(result.row.reason)")
            }
        }
    }

    private static func isNumber(_ column: Int) -> Bool { (2...5).contains(column) }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = cells.indices.map { column in
            let space = String(repeating: " ", count: widths[column] - cells[column].count)
            return isNumber(column) ? space + cells[column] : cells[column] + space
        }
        return "| " + padded.joined(separator: " | ") + " |"
    }

    func writeJSON(_ path: String) throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("machine", machine.text)
            writer.member("rounds", options.rounds)
            writer.member("short", options.isShort)
            writer.member("rows") { writer in
                writer.array { writer in
                    for result in results { Self.write(result, to: &writer) }
                }
            }
        }
        try TextFile.write(writer.text + "\n", to: path)
    }

    private static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", result.row.name)
            writer.member("unit", result.row.unit)
            number("value", result.values.median, &writer)
            writer.member("floorName", result.row.floor?.name)
            number("floor", result.floors.median, &writer)
            number("ratio", result.ratios.median, &writer)
            writer.member("target", result.row.target?.text)
            writer.member("verdict", result.verdict)
            writer.member("reason", result.isMet == false ? result.row.reason : nil)
            writer.member("failure", result.failure)
            writer.member("values") { writer in
                writer.array { writer in for value in result.values { writer.value(value) } }
            }
            writer.member("ratios") { writer in
                writer.array { writer in for ratio in result.ratios { writer.value(ratio) } }
            }
        }
    }

    private static func number(_ key: String, _ value: Double?, _ writer: inout JSONWriter) {
        if let value {
            writer.member(key, value)
        } else {
            writer.key(key)
            writer.null()
        }
    }
}
