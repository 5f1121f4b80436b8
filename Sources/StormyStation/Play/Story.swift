// SPDX-License-Identifier: Apache-2.0

/// The expected behavior of the sample app, for a comparison with the records of both sides.
package struct Story: Sendable {
    /// The expected record of a task at the station.
    package enum Trace: Equatable, Sendable {
        /// A forecast is requested, and does not arrive before the end of the run.
        case forecastBegun
        /// The forecast arrives.
        case forecast
        /// An upload of photos starts, and the connection is lost.
        case photosBegun
        /// The photos arrive.
        case photos
        /// One notification with each title, in this order.
        case notifications([String])
        case nothing
    }

    package struct Part: Sendable {
        /// The identifier; a trailing `*` matches all identifiers with the prefix.
        package var task: String
        package var runs: Int
        package var outcome = Story.succeeded
        /// The reason for the cancellation; `nil` if the run is not cancelled.
        package var stopReason: String?
        package var trace: Trace

        func isAbout(_ identifier: String) -> Bool { Story.is(identifier, of: task) }
    }

    package var parts: [Part]
    /// The task whose handler submits its next run, for the next noon in UTC.
    package var daily: String

    /// The sample app, with a connection that is slow and fails.
    ///
    /// Noon requests the weather, and its runtime ends before the response arrives. The response then wakes
    /// the plugin: a storm is coming. A tap on that notification uploads photos. The connection fails, the
    /// runtime of the run ends, the upload resumes, and its end wakes the plugin, which posts a notification.
    /// Meanwhile the overrunning task is killed at the end of its grace.
    package static let stormy = Story(
        parts: [
            Part(task: noon, runs: 1, stopReason: expired, trace: .forecastBegun),
            Part(task: "urlSession.weather", runs: 1, trace: .forecast),
            Part(
                task: notify,
                runs: 2,
                trace: .notifications([storm, "Photo uploaded"])
            ),
            Part(task: tap, runs: 1, trace: .nothing),
            Part(task: photos, runs: 1, stopReason: expired, trace: .photosBegun),
            Part(task: "urlSession.photos", runs: 1, trace: .photos),
            Part(
                task: "com.example.stormy.overrun",
                runs: 1,
                outcome: killedAtGrace,
                stopReason: expired,
                trace: .nothing
            ),
        ],
        daily: noon
    )

    static let noon = "com.example.stormy.noon"
    static let photos = "com.example.stormy.photos"
    static let notify = "com.example.stormy.notify"
    static let tap = "notificationAction.weather-check.*"
    /// The title of the notification that is tapped, and the action.
    static let storm = "A storm is coming"
    static let upload = "upload"

    package static let succeeded = "succeeded"
    package static let killedAtGrace = "killed(graceExceeded)"
    static let expired = "expired"
    /// How much longer than its runtime and grace a run may occupy its slot, seconds.
    package static let killSlackSeconds = 1.0

    /// Whether an identifier is this task or belongs to this family.
    static func `is`(_ identifier: String, of task: String) -> Bool {
        task.hasSuffix("*") ? identifier.hasPrefix(task.dropLast()) : identifier == task
    }

    func part(of task: String) -> Part? { parts.first { $0.isAbout(task) } }

    func part(leaving trace: Trace) -> Part? { parts.first { $0.trace == trace } }

    /// The progress of the daemon.
    package enum Progress: Equatable {
        /// At least one run has not ended.
        case active
        /// No run is in progress, but the story is not complete; it may never be.
        case quiet
        case complete
    }

    package func progress(of runs: [RunEntry]) -> Progress {
        guard runs.allSatisfy(\.hasEnded) else { return .active }
        let complete = parts.allSatisfy { part in
            runs.count { part.isAbout($0.task) } >= part.runs
        }
        return complete ? .complete : .quiet
    }
}
