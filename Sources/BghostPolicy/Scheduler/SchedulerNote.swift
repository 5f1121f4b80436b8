// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// A decision of the scheduler for the log.
///
/// Data instead of text: most notes are never read, and composing text costs more than the
/// decision.
package enum SchedulerNote: Sendable {
    case replaced(Request, by: RunID)
    /// The request ended without a run, or without a further one.
    case closed(Request, RequestEnd)
    /// The request gets another run, after this many nanoseconds.
    case again(Request, wait: Int64)
    case dead(Request, reason: String)
    case redriven(Request)
    /// Requests were parked: their number, the first of their tasks, the number of tasks, and when
    /// the first request expires, Unix nanoseconds.
    case parked(Int, tasks: [String], of: Int, until: Int64)
    /// This many requests were requeued, since their tasks are in the manifest again.
    case unparked(Int)
    /// A run did not stop within its limit, nanoseconds.
    ///
    /// With these throttle points its task's next run does not start before `until`, Unix
    /// nanoseconds; in a dry run it is not delayed.
    case throttled(
        task: String,
        LateRun,
        limit: UInt64,
        points: Int,
        until: Int64?,
        isDryRun: Bool
    )
    case throttleCleared(task: String, points: Int)
    case unscheduled(task: String, why: String)
    /// With this run, a plugin has used up its runtime budget until a time, Unix nanoseconds.
    case budgetSpent(task: String, RuntimeUse, until: Int64)
    case paused(Pause)
    /// A pause ended, by itself or by an operator.
    case resumed(Pause, isDue: Bool)
    /// Starts of a schedule were missed: one run makes up for all of them, or the schedule skips them.
    case missed(task: String, MissedStarts, isMadeUpFor: Bool)
    /// The request was submitted because the run succeeded.
    case followed(Request, RunRecord)
    /// The run succeeded, and this task could not be submitted after it.
    case notFollowed(RunRecord, by: String, why: String)
    /// A submission of the fleet was dropped, because its task has a pending request.
    case yielded(Request)
    /// The end of a run was not decided, because this host has lost the partition of its request.
    case fenced(task: String, run: RunID)
}

extension SchedulerNote {
    /// How many tasks of parked requests are listed.
    static let parkedTasksMax = 3

    package var level: LogEntry.Level {
        switch self {
        case .replaced: .debug
        case .closed, .again, .redriven, .throttleCleared, .unparked, .resumed, .followed, .yielded:
            .info
        case .paused, .parked, .throttled, .missed, .budgetSpent, .fenced: .warning
        case .dead, .unscheduled, .notFollowed: .error
        }
    }

    /// A stable code.
    package var code: String {
        switch self {
        case .replaced: "request.replaced"
        case .closed(_, let end): "request.\(end.text)"
        case .again: "request.again"
        case .dead: "request.dead"
        case .redriven: "request.redriven"
        case .parked: "request.parked"
        case .unparked: "request.unparked"
        case .throttled: "task.throttled"
        case .throttleCleared: "task.throttle.cleared"
        case .unscheduled: "task.unscheduled"
        case .missed: "task.missed"
        case .budgetSpent: "plugin.budget"
        case .paused: "task.paused"
        case .resumed: "task.resumed"
        case .followed: "request.followed"
        case .notFollowed: "request.not_followed"
        case .yielded: "request.yielded"
        case .fenced: "run.fenced"
        }
    }

    /// The task that the note concerns; "" if there are several.
    package var task: String {
        switch self {
        case .replaced(let request, _), .closed(let request, _), .again(let request, _),
            .dead(let request, _), .redriven(let request), .followed(let request, _),
            .yielded(let request):
            request.task
        case .parked(_, let tasks, let count, _): count == 1 ? tasks.first ?? "" : ""
        case .unparked: ""
        case .notFollowed(_, let task, _), .fenced(let task, _): task
        case .paused(let pause), .resumed(let pause, _):
            pause.target.scope == .tasks && pause.target.stem == nil ? pause.target.name : ""
        case .throttled(let task, _, _, _, _, _), .throttleCleared(let task, _),
            .unscheduled(let task, _),
            .missed(let task, _, _), .budgetSpent(let task, _, _):
            task
        }
    }

    /// A sentence for people.
    package var message: String {
        switch self {
        case .replaced(let request, let successor): "\(request.id) by \(successor)"
        case .closed(_, let end): end.sentence
        case .again(let request, let wait):
            "attempt \(request.attempt) in \(DurationText.of(nanoseconds: UInt64(max(0, wait))))"
        case .dead(let request, let reason):
            "\(reason); `bghost redrive \(request.id)` tries it again"
        case .redriven(let request): "\(request.id)"
        case .parked(let count, let tasks, let all, let end):
            "\(count) pending request\(count == 1 ? " for a task" : "s for tasks") no longer in the manifest:"
                + " \(tasks.joined(separator: ", "))"
                + (all > tasks.count ? " and \(all - tasks.count) other tasks" : "")
                + "; deleted from \(Timestamp.text(unixNanoseconds: end)) on; `bghost pending` lists"
                + " \(count == 1 ? "it" : "them")"
        case .unparked(let count):
            "\(count) request\(count == 1 ? " waits" : "s wait") again, since the manifest permits"
                + " \(count == 1 ? "its task" : "their tasks")"
        case .throttled(let task, let run, let limit, let points, let date, let isDryRun):
            "run \(run.run) was \(run.sentence), later than"
                + " \(DurationText.of(nanoseconds: limit)):"
                + " \(run.points) throttle point\(run.points == 1 ? "" : "s"), \(points) now; "
                + Self.throttled(task, until: date, isDryRun)
        case .throttleCleared(_, let points):
            "cleared \(points) throttle point\(points == 1 ? "" : "s")"
        case .unscheduled(_, let why): why
        case .budgetSpent(_, let use, let date):
            "`\(use.plugin)` has used up the day's runtime of its \(use.kind.rawValue) tasks; the next"
                + " run begins no earlier than \(Timestamp.text(unixNanoseconds: date))"
        case .paused(let pause):
            "\(pause.target.subject) is paused \(pause.clause(of: pause.target.name))"
                + (pause.until.map { "; until \(Timestamp.text(unixNanoseconds: $0))" } ?? "")
                + "; `\(pause.target.resumeCommand)` ends the pause"
        case .resumed(let pause, let isDue):
            "the pause of \(pause.target.subject) since"
                + " \(Timestamp.text(unixNanoseconds: pause.since)) has ended"
                + (isDue ? " at its time" : "")
        case .followed(let request, let run):
            "\(request.id) follows run \(run.id) of \(run.task)"
        case .notFollowed(let run, let task, let why):
            "\(task) does not follow run \(run.id) of \(run.task): \(why)"
        case .yielded(let request):
            "\(request.id) is dropped: its task has a pending request, which it was to keep"
        case .fenced(_, let run):
            "the end of run \(run) counts for nothing, since this host has lost its request; the host"
                + " that owns it now repeats it"
        case .missed(_, let missed, true):
            "missed \(missed.count) \(missed.count == 1 ? "start" : "starts") since"
                + " \(Timestamp.text(unixNanoseconds: missed.from)); running once"
        case .missed(_, let missed, false):
            "skipped \(missed.count) missed \(missed.count == 1 ? "start" : "starts") (`misfire: skip`)"
        }
    }

    private static func throttled(_ task: String, until date: Int64?, _ isDryRun: Bool) -> String {
        guard let date else { return "the next run is not delayed" }
        let text = Timestamp.text(unixNanoseconds: date)
        return isDryRun
            ? "would be throttled until \(text) (dry run)"
            : "throttled until \(text); `bghost throttle clear \(task)` lifts it"
    }
}
