// SPDX-License-Identifier: Apache-2.0

import BghostCalendar
import BghostModel
import Testing

/// The fingerprint of the tasks that run once in the fleet.
@Suite struct FleetTasksTests {
    private func manifest(_ tasks: [(name: String, calendar: String, isOnce: Bool)]) throws
        -> Manifest
    {
        var manifest = Manifest()
        manifest.tasks = try tasks.map { task in
            TaskDefinition(
                identifier: try #require(IdentifierPattern(task.name)),
                handler: .plugin(name: "p", handler: "h"),
                schedule: TaskSchedule(
                    times: .calendar(
                        try CalendarExpression(task.calendar),
                        zone: .utc,
                        gap: .shift,
                        fold: .first
                    )
                ),
                isOnceInFleet: task.isOnce
            )
        }
        return manifest
    }

    @Test func `It depends on the tasks and their times, not on their order nor on other tasks`()
        throws
    {
        let two = [("a", "0 12 * * *", true), ("b", "0 13 * * *", true)]
        let first = try manifest(two).fleetTasks
        #expect(first.utf8.count == 16)
        #expect(try manifest(two.reversed()).fleetTasks == first)
        #expect(try manifest(two + [("c", "0 14 * * *", false)]).fleetTasks == first)
        let others = try [
            manifest([]), manifest([two[0]]), manifest(two + [("c", "0 14 * * *", true)]),
            manifest([two[0], ("b", "5 13 * * *", true)]),
            manifest([("a", "0 13 * * *", true), ("b", "0 12 * * *", true)]),
        ].map(\.fleetTasks)
        #expect(Set(others + [first]).count == others.count + 1)
        var placed = try manifest(two + [("c", "0 14 * * *", false)])
        placed.tasks[2].isInFleet = true
        #expect(!(others + [first]).contains(placed.fleetTasks))
        // Hosts of several versions compare it.
        #expect(try manifest([]).fleetTasks == "d1fba762150c532c")
    }
}
