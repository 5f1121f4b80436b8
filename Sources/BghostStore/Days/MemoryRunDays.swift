// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The sums of runs by task and day of a store in memory, of the usual number of days.
struct MemoryRunDays {
    private var days: [Int64: [RunDay]] = [:]

    mutating func add(_ record: RunRecord) {
        let day = RunDay.day(of: record.endedAt ?? 0)
        var rows = days[day] ?? []
        let isFull = rows.count >= RunDay.tasksMax
        let known = rows.firstIndex { $0.task == record.task }
        let task = known == nil && isFull ? "" : record.task
        var index = known ?? rows.firstIndex { $0.task == task }
        if index == nil {
            rows.append(RunDay(day: day, task: task, number: Int64(rows.count) + 1))
            index = rows.indices.last
        }
        if let index { rows[index].add(record) }
        days[day] = rows
        guard days.count > HistorySettings().rollups, let earliest = days.keys.min() else { return }
        days[earliest] = nil
    }

    func page(_ query: RunDayQuery) -> RunDayPage {
        var page = RunDayPage()
        let last = min(query.days.upperBound, query.after?.day ?? .max)
        for day in days.keys.sorted(by: >) where day <= last && day >= query.days.lowerBound {
            for row in days[day] ?? [] where query.tasks?.matches(row.task) ?? true {
                if let place = query.after, place.day == day, row.number <= place.number {
                    continue
                }
                guard page.add(row, limit: query.limit) else { return page }
            }
        }
        return page
    }
}
