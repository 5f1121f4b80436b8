// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostCalendar
import BghostFacts
import BghostModel
@testable import BghostPolicy
@testable import BghostSimulation
import BghostTestSupport

/// A small machine with one task of each kind of rule, under virtual time.
struct World {
    static let second: Int64 = 1_000_000_000
    static let minute = 60 * second
    static let hour = 60 * minute
    static let day = 24 * hour
    /// 2026-11-21T00:00:00Z.
    static let start: Int64 = 1_795_219_200 * second

    var simulation: Simulation

    /// - Parameters:
    ///   - tasks: those of `everyRule` if not said.
    ///   - slots: how many runs there may be at once.
    init(
        seed: UInt64,
        tasks: [TaskDefinition] = World.everyRule,
        slots: Int = 3,
        keepsTransactions: Bool = false,
        author: @escaping Simulation.Author = { _, _, _ in RunScript(.succeeds, length: 1) },
        observe: (@Sendable (Moment, Simulation.Event) -> Void)? = nil
    ) {
        simulation = Simulation(
            Self.settings(seed: seed, tasks: tasks, slots: slots),
            start: Self.start,
            keepsTransactions: keepsTransactions,
            author: author,
            observe: observe
        )
    }

    static func settings(
        seed: UInt64,
        tasks: [TaskDefinition] = World.everyRule,
        slots: Int = 3,
        runtimePerDay: RuntimePerDay = RuntimePerDay()
    ) -> Scheduler.Settings {
        var names: [String] = []
        for task in tasks where !names.contains(task.handler.plugin) {
            names.append(task.handler.plugin)
        }
        let limits = PendingLimits(refresh: 100, processing: 100)
        return Scheduler.Settings(
            manifest: Manifest(
                plugins: names.map {
                    PluginDefinition(
                        name: $0,
                        library: "\($0).so",
                        maxPending: limits,
                        runtimePerDay: runtimePerDay
                    )
                },
                tasks: tasks
            ),
            manifestPath: "tasks.json",
            slots: slots,
            machineID: "a machine",
            seed: seed
        )
    }

    static func task(
        _ identifier: String,
        plugin: String = "p",
        kind: TaskKind = .refresh,
        limits: RunLimits? = nil,
        overlap: Overlap = .queue,
        schedule: TaskSchedule? = nil,
        requirements: RequirementSet = [],
        retry: RetryPolicy? = nil
    ) -> TaskDefinition {
        guard let pattern = IdentifierPattern(identifier) else {
            preconditionFailure("\(identifier) is no pattern")
        }
        return TaskDefinition(
            identifier: pattern,
            handler: .plugin(name: plugin, handler: identifier),
            kind: kind,
            limits: limits,
            overlap: overlap,
            schedule: schedule,
            requirements: requirements,
            retry: retry
        )
    }

    static func every(
        _ seconds: Int,
        misfire: MisfirePlan.Policy = .once,
        startDeadline: Duration? = nil,
        window: Duration = .zero
    ) -> TaskSchedule {
        TaskSchedule(
            times: .every(.seconds(seconds)),
            misfire: misfire,
            startDeadline: startDeadline,
            window: window
        )
    }

    static func calendar(_ text: String, misfire: MisfirePlan.Policy = .once) -> TaskSchedule {
        guard let expression = try? CalendarExpression(text) else {
            preconditionFailure("\(text) is no calendar")
        }
        return TaskSchedule(
            times: .calendar(expression, zone: .utc, gap: .shift, fold: .first),
            misfire: misfire
        )
    }

    static let exponential = RetryPolicy(
        backoff: .exponential(base: .seconds(30), cap: .seconds(3600)),
        attemptsMax: 3,
        lossesMax: 2
    )

    static let everyRule: [TaskDefinition] = [
        task("queued", retry: exponential),
        task("skipping", plugin: "q", overlap: .skip),
        task("displacing", plugin: "q", kind: .processing, overlap: .replace),
        task("overlapping", plugin: "r", overlap: .allow, retry: exponential),
        task("online", plugin: "r", requirements: .network),
        task("plugged-in", kind: .processing, requirements: .externalPower, retry: exponential),
        task("family.*", plugin: "q"),
        task("hourly", schedule: every(3600)),
        task("spread", plugin: "q", schedule: every(1800, window: .seconds(600))),
        task("daily", plugin: "r", schedule: calendar("0 12 * * *")),
        task("never-late", schedule: every(900, misfire: .skip, startDeadline: .seconds(60))),
        task(
            "catching-up",
            plugin: "r",
            schedule: every(7200, misfire: .all(max: 3)),
            retry: exponential
        ),
    ]

    /// What can be submitted, by name.
    static let identifiers = [
        "queued", "skipping", "displacing", "overlapping", "online", "plugged-in", "family.a",
        "family.b", "hourly", "daily",
    ]
}
