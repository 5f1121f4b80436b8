// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
package import BghostModel

/// The future starts of all schedules of a manifest, in order.
///
/// It contains the times of the schedules; other conditions of requests cannot be predicted.
package struct SchedulePlan: Equatable, Sendable {
    /// One start.
    package struct Start: Equatable, Sendable {
        package var task: String
        /// The start is not before this time, Unix nanoseconds.
        package var start: Int64
        /// The offset of the schedule's zone from UTC at that time, seconds.
        package var zoneOffset: Int64
        package var zone: String
        /// A note for people on an unusual start; "" if there is none.
        package var note: String
    }

    package private(set) var starts: [Start] = []
    /// Whether there are more starts than `countMax`.
    package private(set) var isCutOff = false

    private struct Line {
        let task: TaskDefinition
        let recurrence: Recurrence
        let offset: StableOffset
        let zone: ZoneTable
        let isCounted: Bool
        var slot: Int64
        var start: Int64
    }

    /// Computes the starts between two times, Unix nanoseconds.
    ///
    /// - Parameters:
    ///   - machine: a permanent id of this machine, which determines offsets.
    ///   - countMax: the most starts in the plan.
    package init(
        _ manifest: Manifest,
        from: Int64,
        through: Int64,
        machine: String,
        countMax: Int
    ) {
        var lines = manifest.tasks.compactMap { Self.line($0, from: from, machine: machine) }
        while true {
            // A manifest has tens of schedules, so a linear search is fast enough.
            let next = lines.indices.min {
                (lines[$0].start, lines[$0].task.identifier.description)
                    < (lines[$1].start, lines[$1].task.identifier.description)
            }
            guard let next, lines[next].start <= through else { return }
            guard starts.count < countMax else {
                isCutOff = true
                return
            }
            starts.append(Self.start(lines[next]))
            let line = lines[next]
            guard let slot = line.recurrence.next(after: line.slot),
                let start = line.offset.start(of: slot)
            else {
                lines.remove(at: next)
                continue
            }
            lines[next].slot = slot
            lines[next].start = start
        }
    }

    private static func line(_ task: TaskDefinition, from: Int64, machine: String) -> Line? {
        guard let schedule = task.schedule,
            // The manifest's reader has reported a schedule without dates.
            let recurrence = try? schedule.recurrence(since: from)
        else { return nil }
        let offset = schedule.rules(identifier: task.identifier.description, machine: machine)
            .offset
        let before = offset.scheduledTime(from).subtractingReportingOverflow(1)
        guard !before.overflow, let slot = recurrence.next(after: before.partialValue),
            let start = offset.start(of: slot)
        else { return nil }
        var zone = ZoneTable.utc
        var isCounted = true
        if case .calendar(_, let own, _, _) = schedule.times {
            zone = own
            isCounted = false
        }
        return Line(
            task: task,
            recurrence: recurrence,
            offset: offset,
            zone: zone,
            isCounted: isCounted,
            slot: slot,
            start: start
        )
    }

    private static func start(_ line: Line) -> Start {
        let second = Timestamp.floorDivide(line.slot, 1_000_000_000)
        let offset = line.zone.offset(at: second)
        var note = ""
        if line.isCounted {
            note = "counted from the beginning of this plan"
        } else if line.recurrence.isShifted(line.slot) {
            note = "clocks go forward: moved to the first time after the gap"
        } else if case .twice = line.zone.match(local: second + offset) {
            note = "clocks go back: this local time comes twice"
        }
        return Start(
            task: line.task.identifier.description,
            start: line.start,
            zoneOffset: offset,
            zone: line.zone.name,
            note: note
        )
    }
}
