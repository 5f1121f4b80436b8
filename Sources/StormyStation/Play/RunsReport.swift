// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The daemon's report of its runs, `bghost runs --json`, with the keys that the player needs.
///
/// The report may have further keys.
package struct RunsReport: Decodable, Equatable, Sendable {
    package static let schema = "bghost.runs/1"

    package var schema: String
    package var runs: [RunEntry]

    /// The error for output that is not such a report.
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    /// Parses the report; the oldest run is first.
    package static func read(_ json: Data) throws(Unreadable) -> [RunEntry] {
        do {
            let report = try JSONDecoder().decode(RunsReport.self, from: json)
            guard report.schema == schema else {
                throw Unreadable(description: "schema is \(report.schema), not \(schema)")
            }
            // Run ids sort by time.
            return report.runs.sorted { $0.id < $1.id }
        } catch let error as Unreadable {
            throw error
        } catch DecodingError.keyNotFound(let key, let context) {
            throw Unreadable(description: "\(path(context.codingPath + [key])) is missing")
        } catch DecodingError.typeMismatch(_, let context) {
            throw Unreadable(description: "\(path(context.codingPath)) is of another type")
        } catch DecodingError.valueNotFound(_, let context) {
            throw Unreadable(description: "\(path(context.codingPath)) is null")
        } catch {
            throw Unreadable(description: "it is not JSON")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

/// A run in the daemon's report.
package struct RunEntry: Decodable, Equatable, Sendable {
    package var id: String
    package var task: String
    package var state: String
    /// Set after the state has become `ended`.
    package var outcome: String?
    /// The reason for the cancellation.
    package var stopReason: String?
    package var message: String?
    /// RFC 3339 with milliseconds; the texts sort by time.
    package var startedAt: String?
    package var endedAt: String?
    package var durationSeconds: Double?
    package var limitSeconds: Double?
    package var graceSeconds: Double?
    package var peakMemoryBytes: Double?

    package init(
        id: String,
        task: String,
        state: String = "ended",
        outcome: String? = nil,
        stopReason: String? = nil,
        message: String? = nil,
        startedAt: String? = nil,
        endedAt: String? = nil,
        durationSeconds: Double? = nil,
        limitSeconds: Double? = nil,
        graceSeconds: Double? = nil,
        peakMemoryBytes: Double? = nil
    ) {
        self.id = id
        self.task = task
        self.state = state
        self.outcome = outcome
        self.stopReason = stopReason
        self.message = message
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.durationSeconds = durationSeconds
        self.limitSeconds = limitSeconds
        self.graceSeconds = graceSeconds
        self.peakMemoryBytes = peakMemoryBytes
    }

    var hasEnded: Bool { state == "ended" }
}
