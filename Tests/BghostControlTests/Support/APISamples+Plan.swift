// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI

extension APISamples {
    /// A night in which the clocks of Berlin go forward.
    static let plan = API.Plan(
        from: 1_774_738_800_000_000_000,
        until: 1_774_825_200_000_000_000,
        starts: [
            API.PlannedStart(
                task: task,
                start: 1_774_746_000_000_000_000,
                zone: "Europe/Berlin",
                zoneOffsetSeconds: 7200,
                note: "clocks go forward: moved to the first time after the gap"
            )
        ],
        hasMore: false,
        frequent: [
            API.FrequentTask(
                task: "com.example.sync",
                count: 86_400,
                listedUntil: 1_774_738_999_000_000_000
            )
        ],
        clockChanges: [
            API.ClockChange(
                zone: "Europe/Berlin",
                at: 1_774_746_000_000_000_000,
                offsetBeforeSeconds: 3600,
                offsetAfterSeconds: 7200,
                skipped: ["com.example.report"]
            )
        ]
    )
}
