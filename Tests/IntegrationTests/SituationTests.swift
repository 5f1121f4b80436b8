// SPDX-License-Identifier: Apache-2.0

import BghostCalendar
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// The status that handlers can ask for.
    @Suite struct SituationTests {
        private static let day: Int64 = 86_400_000_000_000

        private func manifest(
            _ isolation: Isolation = .worker,
            adjust: (inout TaskDefinition) -> Void = { _ in }
        ) throws -> Manifest {
            var manifest = try TestManifest.misbehave(isolation: isolation)
            let index = try #require(
                manifest.tasks.firstIndex { $0.identifier.description == "situation" }
            )
            adjust(&manifest.tasks[index])
            return manifest
        }

        private func line(_ daemon: RunningHost) async throws -> String {
            try await daemon.line(LogFilter(task: "situation")) {
                $0.message.hasPrefix("refresh ")
            }.message
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `A run can ask for the refresh status`(isolation: Isolation) async throws {
            try await withDaemon(try manifest(isolation)) { daemon in
                let run = try await daemon.run("situation")
                #expect(run.outcome == .succeeded)
                let line = try await line(daemon)
                #expect(line == "refresh 0 1 0, missed 0 0 0, invented -10, short -12")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run learns that the budget of its plugin is used up`() async throws {
            var manifest = try manifest()
            for index in manifest.plugins.indices {
                manifest.plugins[index].runtimePerDay = RuntimePerDay(refresh: .nanoseconds(1))
            }
            try await withDaemon(manifest) { daemon in
                _ = try await daemon.host.submit(Submission(task: "echo"))
                try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
                _ = try await daemon.run("situation")
                let line = try await line(daemon)
                #expect(line.hasPrefix("refresh 0 3 8, "), "\(line)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run learns which missed starts it makes up for`() async throws {
            let folder = try TemporaryDirectory()
            let schedule = TaskSchedule(
                times: .calendar(
                    try CalendarExpression("0 12 * * *"),
                    zone: .utc,
                    gap: .shift,
                    fold: .first
                )
            )
            let now = WallClock.now
            let noon = (now - Self.day / 2) / Self.day * Self.day + Self.day / 2
            mkdir(folder.file("state"), 0o700)
            let store = try SQLiteStore(path: folder.file("state/bghost.sqlite"))
            let memory = TaskMemory(
                identifier: "situation",
                lastServedTime: noon - 3 * Self.day,
                schedule: schedule.text,
                scheduledSince: now - 30 * Self.day
            )
            try await withCheckedThrowingContinuation { continuation in
                store.commit([.remembered(memory)]) { continuation.resume(with: $0) }
            }
            store.close()
            try await withDaemon(
                try manifest { $0.schedule = schedule },
                folder: folder,
                adjust: durable
            ) { daemon in
                let from = (noon - 2 * Self.day) / 1_000_000
                let line = try await line(daemon)
                #expect(line.contains("missed 0 3 \(from), "), "\(line)")
            }
        }
    }
}
