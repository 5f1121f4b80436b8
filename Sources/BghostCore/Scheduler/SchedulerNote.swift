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
    /// The manifest permits its task no more; it is given up at this time, Unix nanoseconds.
    case parked(Request, until: Int64)
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
    package var level: LogEntry.Level {
        switch self {
        case .replaced: .debug
        case .ended, .again, .redriven, .forgiven: .info
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
        case .throttled: "task.throttled"
        case .forgiven: "task.forgiven"
        case .unscheduled: "task.unscheduled"
        case .missed: "task.missed"
        case .budgetSpent: "plugin.budget"
        }
    }

    package var task: String {
        switch self {
        case .replaced(let request, _), .ended(let request, _), .again(let request, _),
            .dead(let request, _), .redriven(let request), .parked(let request, _):
            request.task
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
        case .parked(let request, let end):
            "\(request.id) is kept until \(Timestamp.text(unixNanoseconds: end)), but the manifest does"
                + " not permit its task any more"
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
