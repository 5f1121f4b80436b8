// SPDX-License-Identifier: Apache-2.0

/// What the sample app is expected to do, told once and compared with what both sides say.
package struct Story: Sendable {
    /// What a task leaves behind at the station.
    package enum Trace: Equatable, Sendable {
        /// A forecast is asked for, and does not come before the run is over.
        case forecastBegun
        /// It comes.
        case forecast
        /// Photos are begun, and the connection breaks.
        case photosBegun
        /// They arrive.
        case photos
        /// One notification of each title, in this order.
        case notifications([String])
        case nothing
    }

    package struct Part: Sendable {
        /// With a trailing `*` it is all whose identifiers begin so.
        package var task: String
        package var runs: Int
        package var outcome = Story.succeeded
        /// Why it is asked to stop; `nil` if it is not.
        package var stopReason: String?
        package var trace: Trace

        func isAbout(_ identifier: String) -> Bool { Story.is(identifier, of: task) }
    }

    package var parts: [Part]
    /// The task whose handler asks for its next run, at the next noon of UTC.
    package var daily: String

    /// The sample app, with a connection that is slow and breaks.
    ///
    /// Noon asks for the weather and its time is up before there is an answer, which then wakes the
    /// plugin: a storm is coming. A tap on that notification has photos uploaded. The connection breaks,
    /// the run's time is up, the upload goes on where it stood, and its end wakes the plugin, which says
    /// so. Meanwhile the overrunning task is killed at the end of its grace.
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
    /// How much longer than runtime and grace a run may hold its slot, seconds.
    package static let killSlackSeconds = 1.0

    /// Whether an identifier is this task, or one of this family.
    static func `is`(_ identifier: String, of task: String) -> Bool {
        task.hasSuffix("*") ? identifier.hasPrefix(task.dropLast()) : identifier == task
    }

    func part(of task: String) -> Part? { parts.first { $0.isAbout(task) } }

    func part(leaving trace: Trace) -> Part? { parts.first { $0.trace == trace } }

    /// How far the daemon is.
    package enum Progress: Equatable {
        /// Some run has not ended.
        case active
        /// Nothing runs, and something is still to come; or it never will.
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
