// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The daemon's report of its runs, `bghost runs --json`, as far as the player needs it.
///
/// Further keys may come.
package struct RunsReport: Decodable, Equatable, Sendable {
    package static let schema = "bghost.runs/1"

    package var schema: String
    package var runs: [RunEntry]

    /// Why some output is not such a report.
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    /// Reads the report and puts the oldest run first.
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

/// One run, in the daemon's words.
package struct RunEntry: Decodable, Equatable, Sendable {
    package var id: String
    package var task: String
    package var state: String
    /// Present once the state is `ended`.
    package var outcome: String?
    /// Why it was asked to stop.
    package var stopReason: String?
    package var message: String?
    /// In RFC 3339, with milliseconds; sorts by time.
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
