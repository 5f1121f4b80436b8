// SPDX-License-Identifier: Apache-2.0

import BghostCalendar
@testable import BghostManifest
import BghostModel
import Testing

/// The keys of a task that change how its schedule starts it.
@Suite struct ScheduleManifestTests {
    static let delays: [ManifestErrorTests.Bad] = [
        .init(
            .badRandomDelay,
            ManifestFixture.task("\"every\": \"10m\", \"randomDelay\": ▶\"10m\""),
            label: "not shorter than 10m"
        ),
        .init(
            .badRandomDelay,
            ManifestFixture.task("\"calendar\": \"*/5 * * * *\", \"randomDelay\": ▶\"6m\""),
            label: "not shorter than 5m"
        ),
        .init(
            .badRandomDelay,
            ManifestFixture.task("\"calendar\": \"0 3 * * *\", \"randomDelay\": ▶\"24h\""),
            label: "not shorter than 1d"
        ),
        .init(.badRandomDelay, ManifestFixture.task("▶\"randomDelay\": \"10m\"")),
        .init(
            .outOfRange,
            ManifestFixture.task("\"calendar\": \"@weekly\", \"randomDelay\": ▶\"25h\"")
        ),
        .init(
            .bareNumber,
            ManifestFixture.task("\"every\": \"1h\", \"randomDelay\": ▶600")
        ),
        .init(.badDuration, ManifestFixture.task("\"every\": \"1h\", \"randomDelay\": ▶\"600\"")),
        .init(.wrongType, ManifestFixture.task("\"every\": \"1h\", \"randomDelay\": ▶true")),
    ]

    static let boots: [ManifestErrorTests.Bad] = [
        .init(.badOnBoot, ManifestFixture.task("\"onBoot\": true, ▶\"every\": \"1h\"")),
        .init(.badOnBoot, ManifestFixture.task("▶\"calendar\": \"@daily\", \"onBoot\": \"5m\"")),
        .init(.badOnBoot, ManifestFixture.task("\"onBoot\": true, ▶\"misfire\": \"skip\"")),
        .init(.badOnBoot, ManifestFixture.task("\"onBoot\": true, ▶\"startDeadline\": \"1m\"")),
        .init(.badOnBoot, ManifestFixture.task("\"onBoot\": true, ▶\"timeZone\": \"UTC\"")),
        .init(.bareNumber, ManifestFixture.task("\"onBoot\": ▶300")),
        .init(.badDuration, ManifestFixture.task("\"onBoot\": ▶\"soon\"")),
        .init(.outOfRange, ManifestFixture.task("\"onBoot\": ▶\"8d\"")),
        .init(
            .wrongType,
            ManifestFixture.task("\"onBoot\": ▶{}"),
            label: "true, false or a duration from 1ms to 7d is needed"
        ),
    ]

    @Test(arguments: delays + boots)
    func `Each error is named with its place`(_ bad: ManifestErrorTests.Bad) throws {
        let (text, places) = ManifestFixture.unmark(bad.text)
        let (manifest, diagnostics) = ManifestFixture.read(text)
        #expect(manifest == nil)
        let diagnostic = try #require(diagnostics.first)
        let place = try #require(places.first)
        #expect(diagnostics.count == 1 && diagnostic.code == bad.code, "\(diagnostics)")
        #expect(
            diagnostic.location
                == SourceLocation(file: "tasks.json", line: place.line, column: place.column)
        )
        if let label = bad.label { #expect(diagnostic.label == label) }
        #expect(diagnostic.code.explanation.isEmpty == false)
    }

    @Test(arguments: [
        "\"every\": \"10m\", \"randomDelay\": \"599s\"",
        "\"calendar\": \"0 3 * * sun\", \"randomDelay\": \"24h\"",
        "\"calendar\": \"0 3 * * *\", \"offset\": { \"window\": \"1h\" }, \"randomDelay\": \"1h\"",
    ])
    func `A delay below the interval is taken`(fields: String) throws {
        let (manifest, diagnostics) = ManifestFixture.read(ManifestFixture.task(fields))
        #expect(diagnostics.isEmpty)
        let schedule = try #require(manifest?.tasks.first?.schedule)
        #expect(schedule.randomDelay > .zero)
        // It does not move the times, so an edit of it keeps the pending start.
        var plain = schedule
        plain.randomDelay = .zero
        #expect(plain.text == schedule.text && plain != schedule)
    }

    @Test func `A start at boot is read`() throws {
        for (value, times) in [
            ("true", TaskSchedule.Times.boot(after: .zero)),
            ("\"5m\"", .boot(after: .seconds(300))), ("false", nil),
        ] {
            let text = ManifestFixture.task("\"onBoot\": \(value)")
            let (manifest, diagnostics) = ManifestFixture.read(text)
            #expect(diagnostics.isEmpty)
            let task = try #require(manifest?.tasks.first)
            #expect(task.schedule?.times == times)
        }
        let both = ManifestFixture.task("\"onBoot\": false, \"every\": \"1h\"")
        #expect(ManifestFixture.read(both).diagnostics.isEmpty)
        let schedule = TaskSchedule(times: .boot(after: .seconds(300)))
        #expect(schedule.summary == "5m after each boot")
        let other = TaskSchedule(times: .boot(after: .zero))
        #expect(schedule.text(boot: "x") == other.text(boot: "x"))
        #expect(schedule.text(boot: "x") != schedule.text(boot: "y"))
    }

    @Test func `A family does not start at boot`() {
        let text = """
            { "version": 1, "plugins": { "p": { "library": "libp.so" } },
              "tasks": { "t.*": { "plugin": "p", "onBoot": true } } }
            """
        #expect(ManifestFixture.read(text).diagnostics.map(\.code) == [.needsExactIdentifier])
    }
}
