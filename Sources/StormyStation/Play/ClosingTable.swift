// SPDX-License-Identifier: Apache-2.0

/// The table at the end of the play, one line per run, with the verdict below it.
package struct ClosingTable: Sendable {
    private let story: Story
    private let evidence: Evidence
    private let style: TerminalStyle

    package init(story: Story, evidence: Evidence, style: TerminalStyle) {
        self.story = story
        self.evidence = evidence
        self.style = style
    }

    private struct Row {
        var isGood: Bool
        var cells: [String]
    }

    /// All lines; the last one is the verdict.
    ///
    /// - Parameter elapsedSeconds: the duration of the play.
    package func lines(
        disagreements: [Disagreement],
        elapsedSeconds: Double
    ) -> [String] {
        var lines = table(rows(disagreements))
        lines.append("")
        lines += disagreements.map { "\(style.mark(false)) \(style.shown($0.text))" }
        lines.append(verdict(disagreements, elapsedSeconds))
        return lines
    }

    private func verdict(_ disagreements: [Disagreement], _ elapsedSeconds: Double) -> String {
        guard disagreements.isEmpty else {
            let count = counted(disagreements.count, "disagreement")
            return "\(style.mark(false)) the two sides do not agree: \(count)"
        }
        let record = evidence.record
        return "\(style.mark(true)) both sides agree: \(counted(evidence.runs.count, "run")), "
            + "\(counted(record.forecasts.count, "forecast")), "
            + "\(counted(record.photos.count, "photo")), "
            + "\(counted(record.notifications.count, "notification")) "
            + "in \(seconds(elapsedSeconds))"
    }

    private func rows(_ disagreements: [Disagreement]) -> [Row] {
        var seen: [String: Int] = [:]
        var rows = evidence.runs.map { run in
            let part = story.part(of: run.task)
            let index = seen[part?.task ?? "", default: 0]
            seen[part?.task ?? ""] = index + 1
            return Row(
                isGood: !disagreements.contains { $0.concerns(run, in: story) },
                cells: [
                    part?.task ?? run.task, outcome(run), time(run),
                    run.peakMemoryBytes.map(binarySize) ?? unknown,
                    recorded(part, index),
                ]
            )
        }
        for part in story.parts where seen[part.task] == nil {
            rows.append(
                Row(isGood: false, cells: [part.task, "no run", unknown, unknown, unknown])
            )
        }
        return rows
    }

    private func outcome(_ run: RunEntry) -> String {
        let outcome = run.outcome ?? run.state
        // The outcome of a kill contains its reason, so do not repeat the cancellation.
        guard let reason = run.stopReason, !outcome.contains("(") else { return outcome }
        return "\(outcome) (\(reason))"
    }

    private var unknown: String { "-" }

    private func time(_ run: RunEntry) -> String {
        guard let duration = run.durationSeconds else { return unknown }
        guard let limit = run.limitSeconds else { return seconds(duration) }
        // Compare a run that needed its grace with both limits.
        guard duration > limit, let grace = run.graceSeconds else {
            return "\(seconds(duration)) of \(seconds(limit))"
        }
        return "\(seconds(duration)) of \(seconds(limit)) + \(seconds(grace))"
    }

    /// The station's records of this run; a task's runs and entries correspond in their order.
    private func recorded(_ part: Story.Part?, _ index: Int) -> String {
        let record = evidence.record
        switch part?.trace {
        case .forecastBegun where !record.forecasts.isEmpty:
            return counted(record.forecasts.count, "request")
        case .forecast where !record.forecasts.isEmpty:
            return record.forecasts.map { forecast in
                "\(forecast.hours) h with \(forecast.stormHours) h of storm,"
                    + " \(forecast.bytesSent) B of \(forecast.bytes) B sent"
            }.joined(separator: "; ")
        case .photosBegun where !record.photos.isEmpty:
            let cuts = record.photos.reduce(0) { $0 + $1.pieces.count - 1 }
            return "\(counted(record.photos.count, "upload")), cut \(counted(cuts, "time"))"
        case .photos where !record.photos.isEmpty:
            return record.photos.map { photo in
                let pieces = photo.pieces.map(String.init).joined(separator: " + ")
                return "\(photo.name), \(pieces) B, "
                    + (photo.verified ? "digest verified" : "digest wrong")
            }.joined(separator: "; ")
        case .notifications(let titles) where titles.indices.contains(index):
            guard let entry = record.notifications.first(where: { $0.title == titles[index] })
            else { return unknown }
            let repeats = entry.repeats > 0 ? ", sent \(entry.repeats + 1) times" : ""
            return "\"\(titles[index])\"\(repeats)"
        case .nothing: return "nothing"
        default: return unknown
        }
    }

    private static let header = ["TASK", "OUTCOME", "RUN TIME", "PEAK MEMORY", "STATION RECORDED"]
    private static let rightAligned: Set<Int> = [2, 3]
    private static let cellWidth = 60

    private func table(_ rows: [Row]) -> [String] {
        let body = rows.map { $0.cells.map { style.shown($0, width: Self.cellWidth) } }
        let widths = Self.header.indices.map { column in
            ([Self.header] + body).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return Self.rightAligned.contains(column) ? space + cell : cell + space
            }
            let text = padded.joined(separator: "  ")
            return String(
                text[..<(text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex)]
            )
        }
        let indent = String(repeating: " ", count: style.unicode ? 2 : 3)
        return [indent + style.dimmed(line(Self.header))]
            + zip(rows, body).map { "\(style.mark($0.isGood)) \(line($1))" }
    }
}
