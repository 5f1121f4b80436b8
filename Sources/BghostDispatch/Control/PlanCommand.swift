// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostCalendar
internal import BghostLinux
package import BghostModel
internal import BghostPolicy
package import BghostServices
package import BghostSimulation

/// Answers what starts next by itself.
///
/// The host owns it. Use it on the reactor's thread only; it changes nothing, and another thread computes the
/// plan.
package final class PlanCommand {
    private let dispatcher: Dispatcher
    private let history: HistoryReader
    private let clock: DaemonClock
    private let manifest: () -> Manifest

    /// - Parameter manifest: the manifest in force.
    package init(
        _ dispatcher: Dispatcher,
        _ history: HistoryReader,
        _ clock: DaemonClock,
        manifest: @escaping () -> Manifest
    ) {
        self.dispatcher = dispatcher
        self.history = history
        self.clock = clock
        self.manifest = manifest
    }

    /// The coming starts.
    package nonisolated(nonsending) func plan(
        _ question: PlanQuestion
    ) async throws(OperatorRefusal) -> API.Plan {
        if let task = question.task { try dispatcher.requireTask(task) }
        let (now, manifest) = (clock.wall, manifest())
        let through = now.addingClamped(Int64(question.hours) * 3_600_000_000_000)
        var seenSince: [String: Int64] = [:]
        for definition in manifest.tasks where definition.schedule?.isCalendar == false {
            let task = definition.identifier.description
            guard question.task == nil || question.task == task else { continue }
            seenSince[task] = dispatcher.scheduler.memories(of: task).first?.scheduledSince
        }
        // A year of thousands of schedules takes longer than the reactor's thread may.
        return await history.ask { [seenSince] _ in
            let plan = SchedulePlan(
                manifest,
                from: now,
                through: through,
                machine: MachineID.read() ?? "",
                countMax: question.limit,
                perTaskMax: question.perTaskMax,
                task: question.task,
                seenSince: seenSince
            )
            return API.Plan(plan, from: now, through: through)
        }
    }
}

extension API.Plan {
    /// - Parameters:
    ///   - from: the beginning of the plan, Unix nanoseconds.
    ///   - through: the end that was asked for.
    package init(_ plan: SchedulePlan, from: Int64, through: Int64) {
        self.init(
            from: from,
            // The starts of the last instant may not all be there.
            until: plan.isCutOff
                ? plan.starts.last?.start.subtractingClamped(1) ?? from : through,
            starts: plan.starts.map { start in
                API.PlannedStart(
                    task: start.task,
                    start: start.start,
                    latest: start.latest,
                    zone: start.zone,
                    zoneOffsetSeconds: start.zoneOffset,
                    note: start.note
                )
            },
            hasMore: plan.isCutOff,
            frequent: plan.frequent.map { task in
                API.FrequentTask(
                    task: task.task,
                    count: task.count,
                    listedUntil: task.listedThrough
                )
            },
            clockChanges: plan.clockChanges.map { change in
                API.ClockChange(
                    zone: change.zone,
                    at: change.at,
                    offsetBeforeSeconds: change.offsetBefore,
                    offsetAfterSeconds: change.offsetAfter,
                    skipped: change.skipped
                )
            }
        )
    }
}
