// SPDX-License-Identifier: Apache-2.0

extension Metric {
    /// The table of all metrics for `docs/OPERATION.md`.
    package static var table: String {
        let rows = all.map { metric in
            let names = metric.kind == .histogram ? [metric.name] : metric.seriesNames
            let labels = metric.allLabels.map { label in
                "`\(label.name)`" + (label.values.map { ": " + $0.joined(separator: ", ") } ?? "")
            }
            let help = metric.help + (metric.condition.isEmpty ? "" : " Only \(metric.condition).")
            return "| `\(names[0])` | \(metric.kind.rawValue) | \(labels.joined(separator: "; ")) "
                + "| \(metric.seriesMax) | \(help) |"
        }
        return """
            | metric | kind | labels | most series | meaning |
            | --- | --- | --- | --- | --- |
            \(rows.joined(separator: "\n"))
            """
    }
}
