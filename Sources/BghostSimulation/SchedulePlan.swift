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
        /// The start is not delayed at random beyond this time, Unix nanoseconds; `nil` without a random
        /// delay.
        package var latest: Int64?
        /// The offset of the schedule's zone from UTC at that time, seconds.
        package var zoneOffset: Int64
        package var zone: String
        /// A note for people on an unusual start; "" if there is none.
        package var note: String
    }

    /// A task of which the plan does not have all starts.
    package struct FrequentTask: Equatable, Sendable {
        package var task: String
        /// The number of its starts in the whole time.
        package var count: Int
        /// Its last start in the plan, Unix nanoseconds.
        package var listedThrough: Int64
    }

    /// A change of the clock of a zone that a schedule has.
    package struct ClockChange: Equatable, Sendable {
        package var zone: String
        /// The first instant with the new offset, Unix nanoseconds.
        package var at: Int64
        /// The offsets from UTC, seconds.
        package var offsetBefore: Int64
        package var offsetAfter: Int64
        /// The tasks with a local time that the clock leaves out, whose schedule then skips the start.
        package var skipped: [String]
    }

    package private(set) var starts: [Start] = []
    /// Whether there are more starts than `countMax`.
    package private(set) var isCutOff = false
    /// The tasks with more starts than `perTaskMax`, in the order of their last start in the plan.
    package private(set) var frequent: [FrequentTask] = []
    /// The changes of the clock in the whole time, in order.
    package private(set) var clockChanges: [ClockChange] = []

    fileprivate struct Line {
        let task: String
        let schedule: TaskSchedule
        let recurrence: Recurrence
        let rules: MisfirePlan.Rules
        let zone: ZoneTable
        /// Whether its times depend on when the plan begins.
        let isCounted: Bool
        let firstSlot: Int64
        var slot: Int64
        var start: Int64
        /// The number of its starts in the plan.
        var listed = 0

        static func < (one: Line, other: Line) -> Bool {
            one.start != other.start ? one.start < other.start : one.task < other.task
        }

        /// The line at its next start; `nil` if there is none within 64 bits.
        var following: Line? {
            guard let slot = recurrence.next(after: slot), let start = rules.offset.start(of: slot)
            else { return nil }
            var line = self
            (line.slot, line.start) = (slot, start)
            line.listed += 1
            return line
        }
    }

    /// Computes the starts between two times, Unix nanoseconds.
    ///
    /// The cost is O(schedules + starts in the plan × log schedules).
    ///
    /// - Parameters:
    ///   - machine: a permanent id of this machine, which determines offsets.
    ///   - countMax: the most starts in the plan.
    ///   - perTaskMax: the most starts of one task, 1 or more.
    ///   - task: only of this task.
    ///   - seenSince: when the daemon first saw the schedules of tasks, Unix nanoseconds. An interval of
    ///     another task counts from the beginning of the plan.
    package init(
        _ manifest: Manifest,
        from: Int64,
        through: Int64,
        machine: String,
        countMax: Int,
        perTaskMax: Int = .max,
        task: String? = nil,
        seenSince: [String: Int64] = [:]
    ) {
        let lines = manifest.tasks.compactMap { definition -> Line? in
            let name = definition.identifier.description
            guard let schedule = definition.schedule, task == nil || task == name else {
                return nil
            }
            return Self.line(name, schedule, from: from, machine: machine, since: seenSince[name])
        }
        clockChanges = Self.clockChanges(of: lines, from: from, through: through)
        var queue = LineQueue(lines)
        while let line = queue.first, line.start <= through {
            guard starts.count < countMax else {
                isCutOff = true
                return
            }
            starts.append(Self.start(line))
            guard let next = line.following else {
                queue.removeFirst()
                continue
            }
            guard next.listed >= perTaskMax else {
                queue.replaceFirst(with: next)
                continue
            }
            queue.removeFirst()
            guard next.start <= through else { continue }
            frequent.append(
                FrequentTask(
                    task: line.task,
                    count: 1
                        + line.recurrence.count(
                            after: line.firstSlot,
                            through: line.rules.offset.scheduledTime(through)
                        ),
                    listedThrough: line.start
                )
            )
        }
    }

    private static func clockChanges(
        of lines: [Line],
        from: Int64,
        through: Int64
    ) -> [ClockChange] {
        let calendars = Dictionary(grouping: lines.filter(\.schedule.isCalendar), by: \.zone.name)
        var changes: [ClockChange] = []
        for (name, lines) in calendars {
            guard let zone = lines.first?.zone else { continue }
            var second = Timestamp.floorDivide(from, 1_000_000_000)
            while let change = zone.nextChange(after: second) {
                let at = change.at * 1_000_000_000
                guard at <= through else { break }
                second = change.at
                changes.append(
                    ClockChange(
                        zone: name,
                        at: at,
                        offsetBefore: change.offsetBefore,
                        offsetAfter: change.offsetAfter,
                        skipped: lines.filter { $0.isSkipped(at: at) }.map(\.task).sorted()
                    )
                )
            }
        }
        return changes.sorted { ($0.at, $0.zone) < ($1.at, $1.zone) }
    }

    private static func line(
        _ task: String,
        _ schedule: TaskSchedule,
        from: Int64,
        machine: String,
        since: Int64?
    ) -> Line? {
        // The boots of the machine are not known in advance.
        guard !schedule.isOfBoot,
            // The manifest's reader has reported a schedule without dates.
            let recurrence = try? schedule.recurrence(since: since ?? from)
        else { return nil }
        let rules = schedule.rules(identifier: task, machine: machine)
        let offset = rules.offset
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
            schedule: schedule,
            recurrence: recurrence,
            rules: rules,
            zone: zone,
            isCounted: isCounted && since == nil,
            firstSlot: slot,
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
            task: line.task,
            start: line.start,
            latest: line.rules.randomDelay > 0
                ? line.start.addingClamped(line.rules.randomDelay) : nil,
            zoneOffset: offset,
            zone: line.zone.name,
            note: note
        )
    }
}

extension SchedulePlan.Line {
    /// Whether a change of the clock leaves out a local time of the schedule, which then does not start.
    fileprivate func isSkipped(at change: Int64) -> Bool {
        guard case .calendar(let expression, let zone, .skip, let fold) = schedule.times,
            // With the other policy, the times that are left out are made up for at the change.
            let shifted = try? Recurrence.calendar(expression, zone: zone, gap: .shift, fold: fold)
        else { return false }
        return shifted.next(after: change.subtractingClamped(1)) == change
            && shifted.isShifted(change)
    }
}

/// Schedules, the one with the next start first: a binary heap.
private struct LineQueue {
    private var lines: [SchedulePlan.Line]

    init(_ lines: [SchedulePlan.Line]) { self.lines = lines.sorted { $0 < $1 } }

    var first: SchedulePlan.Line? { lines.first }

    mutating func replaceFirst(with line: SchedulePlan.Line) {
        lines[0] = line
        sink()
    }

    mutating func removeFirst() {
        lines.swapAt(0, lines.count - 1)
        lines.removeLast()
        sink()
    }

    /// Moves the first line behind those that start before it.
    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            let child = 2 * index + 1
            if child < lines.count, lines[child] < lines[least] { least = child }
            if child + 1 < lines.count, lines[child + 1] < lines[least] { least = child + 1 }
            guard least != index else { return }
            lines.swapAt(index, least)
            index = least
        }
    }
}
