// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostCalendar
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostServices
import BghostStore
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Requests that the manifest submits.
    @Suite struct ScheduleTests {
        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        private static let day: Int64 = 86_400_000_000_000

        private static func noon(
            misfire: MisfirePlan.Policy = .once,
            zone: ZoneTable = .utc
        ) throws -> TaskSchedule {
            try daily(hour: 12, misfire: misfire, zone: zone)
        }

        private static func daily(
            hour: Int64,
            misfire: MisfirePlan.Policy = .once,
            zone: ZoneTable = .utc
        ) throws -> TaskSchedule {
            TaskSchedule(
                times: .calendar(
                    try CalendarExpression("0 \(hour) * * *"),
                    zone: zone,
                    gap: .shift,
                    fold: .first
                ),
                misfire: misfire
            )
        }

        /// A host whose task `echo` has a schedule, with a store that outlives it.
        private func withSchedule(
            _ schedule: TaskSchedule,
            _ body: (RunningHost) async throws -> Void
        ) async throws {
            var manifest = try TestManifest.misbehave()
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == "echo" }
            )
            manifest.tasks[index].schedule = schedule
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: durable,
                body
            )
        }

        /// Leaves a store as a daemon does that last served a slot so long ago.
        private func leave(_ schedule: TaskSchedule, lastServedTime: Int64, since: Int64)
            async throws
        {
            mkdir(folder.file("state"), 0o700)
            let store = try SQLiteStore(path: folder.file("state/bghost.sqlite"))
            defer { store.close() }
            let memory = TaskMemory(
                identifier: "echo",
                lastServedTime: lastServedTime,
                schedule: schedule.text,
                scheduledSince: since
            )
            try await withCheckedThrowingContinuation { continuation in
                store.commit([.remembered(memory)]) { continuation.resume(with: $0) }
            }
        }

        private func pending(_ daemon: RunningHost) async -> PendingRequest? {
            await daemon.host.status().tasks.first { $0.identifier == "echo" }?.pending
        }

        private func runs(_ daemon: RunningHost) async -> [RunRecord] {
            await daemon.host.runs(task: "echo", limit: 100)
        }

        @Test(.timeLimit(.minutes(5)))
        func `A calendar's next time is pending, also after a restart`() async throws {
            let schedule = try Self.noon()
            var first: PendingRequest?
            try await withSchedule(schedule) { daemon in
                let now = WallClock.now
                first = await pending(daemon)
                let due = try #require(first?.earliestBegin)
                #expect(due > now && due - now <= Self.day)
                #expect(due % Self.day == Self.day / 2)
                #expect(await runs(daemon).isEmpty)
            }
            try await withSchedule(schedule) { daemon in
                #expect(await pending(daemon)?.id == first?.id)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An interval counts from its first sight, also after a restart`() async throws {
            let schedule = TaskSchedule(times: .every(.seconds(3600)))
            let before = WallClock.now
            var due: Int64?
            try await withSchedule(schedule) { daemon in
                due = await pending(daemon)?.earliestBegin
                let wait = try #require(due) - 3_600_000_000_000
                #expect(wait >= before && wait <= WallClock.now)
            }
            try await withSchedule(schedule) { daemon in
                #expect(await pending(daemon)?.earliestBegin == due)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [true, false])
        func `The plan has the next start that the scheduler has`(isDaily: Bool) async throws {
            let schedule =
                isDaily ? try Self.noon() : TaskSchedule(times: .every(.seconds(3600)))
            try await withSchedule(schedule) { daemon in
                let due = try #require(await pending(daemon)?.earliestBegin)
                let plan = try await daemon.host.plan(
                    PlanQuestion(task: "echo", hours: 72, perTaskMax: 1, limit: 10)
                )
                #expect(plan.starts.map(\.start) == [due])
                #expect(plan.starts.map(\.task) == ["echo"])
                #expect(plan.starts.first?.note == "")
                #expect(plan.frequent.map(\.task) == ["echo"])
                #expect(plan.frequent.allSatisfy { $0.count > 1 })
                #expect(await pending(daemon)?.earliestBegin == due)
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.plan(PlanQuestion(task: "nosuch"))
                }
                #expect(refusal?.code == .noSuchTask)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An interval repeats`() async throws {
            try await withSchedule(TaskSchedule(times: .every(.seconds(1)))) { daemon in
                var last: PendingRequest?
                for _ in 0..<2 {
                    var next = await pending(daemon)
                    while next == nil || next?.id == last?.id {
                        await Task.yield()
                        next = await pending(daemon)
                    }
                    let request = try #require(next)
                    let due = try #require(request.earliestBegin)
                    let run = try await daemon.begun(request)
                    #expect(try #require(run.startedAt) >= due)
                    if let before = last?.earliestBegin { #expect(due - before >= 1_000_000_000) }
                    last = request
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `One run makes up for all missed starts`() async throws {
            let schedule = try Self.noon()
            let now = WallClock.now
            let lastNoon = (now - Self.day / 2) / Self.day * Self.day + Self.day / 2
            try await leave(
                schedule,
                lastServedTime: lastNoon - 3 * Self.day,
                since: now - 30 * Self.day
            )
            try await withSchedule(schedule) { daemon in
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
                let log = daemon.log.entries(matching: LogFilter(task: "echo"), limit: 100)
                #expect(log.contains { $0.message.hasPrefix("missed 3 starts since") })
                #expect(await runs(daemon).count == 1)
                #expect(await pending(daemon)?.earliestBegin == lastNoon + Self.day)
            }
            // The slots that were made up for are not made up for again.
            try await withSchedule(schedule) { daemon in
                #expect(await runs(daemon).count == 1)
                #expect(await pending(daemon)?.earliestBegin == lastNoon + Self.day)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `With misfire skip missed starts are skipped`() async throws {
            let now = WallClock.now
            // Half a day from now, so that no slot is on time whenever this runs.
            let hour = (now / (Self.day / 24) + 12) % 24
            let schedule = try Self.daily(hour: hour, misfire: .skip)
            let time = hour * (Self.day / 24)
            let last = (now - time) / Self.day * Self.day + time
            try await leave(
                schedule,
                lastServedTime: last - 3 * Self.day,
                since: now - 30 * Self.day
            )
            try await withSchedule(schedule) { daemon in
                #expect(await runs(daemon).isEmpty)
                #expect(await pending(daemon)?.earliestBegin == last + Self.day)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `With misfire all each missed start has a run`() async throws {
            let schedule = try Self.noon(misfire: .all(max: 3))
            let now = WallClock.now
            let lastNoon = (now - Self.day / 2) / Self.day * Self.day + Self.day / 2
            try await leave(
                schedule,
                lastServedTime: lastNoon - 9 * Self.day,
                since: now - 30 * Self.day
            )
            try await withSchedule(schedule) { daemon in
                var ended = 0
                for await entry in daemon.follow(LogFilter(task: "echo"))
                where entry.event == "run.ended" {
                    ended += 1
                    if ended == 3 { break }
                }
                #expect(await pending(daemon)?.earliestBegin == lastNoon + Self.day)
                #expect(await runs(daemon).count == 3)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An edited schedule makes up for nothing`() async throws {
            let now = WallClock.now
            let old = try Self.noon(zone: ZoneTable(name: "Elsewhere", fixedOffset: 3600))
            try await leave(old, lastServedTime: now - 3 * Self.day, since: now - 30 * Self.day)
            try await withSchedule(try Self.noon()) { daemon in
                #expect(await runs(daemon).isEmpty)
                let due = try #require(await pending(daemon)?.earliestBegin)
                #expect(due > now)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `After a cancelled scheduled request the next one is pending`() async throws {
            try await withSchedule(try Self.noon()) { daemon in
                let first = try #require(await pending(daemon))
                let cancelled = try await daemon.host.cancelPending(task: "echo")
                #expect(cancelled.map(\.id) == [first.id])
                let second = try #require(await pending(daemon))
                #expect(second.earliestBegin == first.earliestBegin.map { $0 + Self.day })
            }
        }
    }
}
