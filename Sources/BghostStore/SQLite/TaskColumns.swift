// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar
internal import BghostModel

/// The columns of the row for a task's remembered state.
enum TaskColumns {
    static let names = names(version: Schema.version)
    static let count = 12

    /// The columns in a file that may not be migrated yet.
    static func names(version: Int32) -> String {
        """
        identifier, debt_points, debt_changed_at, debt_last_end, last_slot, schedule,
        scheduled_since, \(version < 2 ? "NULL, NULL" : "parked_since, served"),
        \(version < 5 ? "NULL" : "uses"), \(version < 6 ? "NULL" : "throttle_runs"), sum
        """
    }

    static func bind(_ memory: TaskMemory, to row: inout Arguments) {
        row.add(memory.identifier)
        row.add(memory.throttle.points)
        row.add(memory.throttle.changedAt)
        row.add(memory.throttle.lastEnd)
        row.add(memory.lastServedTime)
        row.add(memory.schedule)
        row.add(memory.scheduledSince)
        row.addLater(memory.parkedSince)
        row.addLater(memory.served.ranges.isEmpty ? nil : memory.served.text)
        row.addLater(memory.uses.isEmpty ? nil : memory.uses.text)
        row.addLater(memory.throttle.runs.isEmpty ? nil : memory.throttle.runs.text)
        row.addSum()
    }

    static func read(_ row: inout Row) throws(SQLiteFailure) -> TaskMemory {
        var memory = TaskMemory(
            identifier: row.text(),
            throttle: ThrottlePoints(
                points: Int(row.int()),
                changedAt: row.int(),
                lastEnd: row.int()
            ),
            lastServedTime: row.optionalInt(),
            schedule: row.text(),
            scheduledSince: row.optionalInt(),
            parkedSince: row.laterInt()
        )
        if let served = row.laterText() {
            guard let times = ServedTimes(text: served) else {
                throw .damaged("the times that a schedule has served make no sense")
            }
            memory.served = times
        }
        if let text = row.laterText() {
            guard let uses = UsePattern(text: text) else {
                throw .damaged("the times at which a task was used make no sense")
            }
            memory.uses = uses
        }
        if let text = row.laterText() {
            guard let runs = [LateRun](text: text) else {
                throw .damaged("the runs that earned throttle points make no sense")
            }
            let throttle = memory.throttle
            memory.throttle = ThrottlePoints(
                points: throttle.points,
                changedAt: throttle.changedAt,
                lastEnd: throttle.lastEnd,
                runs: runs
            )
        }
        try row.checkSum("the tasks")
        return memory
    }
}
