// SPDX-License-Identifier: Apache-2.0

/// Something that the scheduler did and that people may want to know.
///
/// Data and not text: most of it is never read, and text costs more than the decision.
package enum SchedulerNote: Sendable {
    case replaced(Request, by: RunID)
    /// It has ended without a run, or without a further one.
    case ended(Request, RequestEnd)
    /// It gets another run, this many nanoseconds from now.
    case again(Request, wait: Int64)
    case dead(Request, reason: String)
    case redriven(Request)
    /// So many requests of so many tasks, of which these are the first, wait for the manifest to permit
    /// them again; the first of them is given up at this time, Unix nanoseconds.
    case parked(Int, tasks: [String], of: Int, until: Int64)
    /// So many requests wait for a run again, since the manifest permits their tasks again.
    case unparked(Int)
    /// It did not stop in time; its next run begins no earlier than this, Unix nanoseconds.
    case throttled(task: String, until: Int64)
    case forgiven(task: String, points: Int)
    case unscheduled(task: String, why: String)
    /// With its run, a plugin has used up its runtime until then, Unix nanoseconds.
    case budgetSpent(task: String, RuntimeUse, until: Int64)
    /// Times of its schedule went by, of which one run stands for all or none.
    case missed(task: String, MissedSlots, isMadeUpFor: Bool)
}

extension SchedulerNote {
    /// How many tasks of parked requests are named.
    static let parkedTasksMax = 3

    package var level: LogEntry.Level {
        switch self {
        case .replaced: .debug
        case .ended, .again, .redriven, .forgiven, .unparked: .info
        case .parked, .throttled, .missed, .budgetSpent: .warning
        case .dead, .unscheduled: .error
        }
    }

    /// A stable word for it.
    package var code: String {
        switch self {
        case .replaced: "request.replaced"
        case .ended(_, let end): "request.\(end.text)"
        case .again: "request.again"
        case .dead: "request.dead"
        case .redriven: "request.redriven"
        case .parked: "request.parked"
        case .unparked: "request.unparked"
        case .throttled: "task.throttled"
        case .forgiven: "task.forgiven"
        case .unscheduled: "task.unscheduled"
        case .missed: "task.missed"
        case .budgetSpent: "plugin.budget"
        }
    }

    /// The task that it is about; "" if it is about several.
    package var task: String {
        switch self {
        case .replaced(let request, _), .ended(let request, _), .again(let request, _),
            .dead(let request, _), .redriven(let request):
            request.task
        case .parked(_, let tasks, let count, _): count == 1 ? tasks.first ?? "" : ""
        case .unparked: ""
        case .throttled(let task, _), .forgiven(let task, _), .unscheduled(let task, _),
            .missed(let task, _, _), .budgetSpent(let task, _, _):
            task
        }
    }

    /// A sentence for people.
    package var message: String {
        switch self {
        case .replaced(let request, let successor): "\(request.id) by \(successor)"
        case .ended(_, let end): end.sentence
        case .again(let request, let wait):
            "attempt \(request.attempt) in \(DurationText.of(nanoseconds: UInt64(max(0, wait))))"
        case .dead(let request, let reason):
            "\(reason); `bghost redrive \(request.id)` tries it again"
        case .redriven(let request): "\(request.id)"
        case .parked(let count, let tasks, let all, let end):
            "\(count) request\(count == 1 ? " waits" : "s wait") for what the manifest does not permit any"
                + " more: \(tasks.joined(separator: ", "))"
                + (all > tasks.count ? " and \(all - tasks.count) other tasks" : "")
                + "; \(count == 1 ? "it is" : "they are") given up from"
                + " \(Timestamp.text(unixNanoseconds: end)) on, and `bghost pending` lists them"
        case .unparked(let count):
            "\(count) request\(count == 1 ? " waits" : "s wait") again, since the manifest permits"
                + " \(count == 1 ? "its task" : "their tasks")"
        case .throttled(_, let date):
            "it did not stop in time; its next run begins no earlier than"
                + " \(Timestamp.text(unixNanoseconds: date))"
        case .forgiven(_, let points): "\(points) points"
        case .unscheduled(_, let why): why
        case .budgetSpent(_, let use, let date):
            "`\(use.plugin)` has used up the day's runtime of its \(use.kind.rawValue) tasks; the next"
                + " run begins no earlier than \(Timestamp.text(unixNanoseconds: date))"
        case .missed(_, let missed, true):
            "one run stands for \(missed.count) times since"
                + " \(Timestamp.text(unixNanoseconds: missed.from))"
        case .missed(_, let missed, false):
            "\(missed.count) times of its schedule went by and are not made up for"
        }
    }
}
