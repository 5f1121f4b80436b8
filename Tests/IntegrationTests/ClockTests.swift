// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
import BghostConfiguration
@testable import BghostHost
import BghostLinux
import BghostModel
@testable import BghostPolicy
import BghostServices
import Synchronization
import Testing

extension SeparateHosts {
    /// Calendars and a clock that is not kept right yet.
    @Suite struct ClockTests {
        /// A clock that is moved forward and back again must not silence an interval.
        @Test(.timeLimit(.minutes(5)))
        func `An interval continues during and after a simulated clock`() async {
            await #expect(processExitsWith: .success) {
                var manifest = try TestManifest.misbehave()
                let index = try #require(
                    manifest.tasks.firstIndex { $0.identifier.description == "echo" }
                )
                manifest.tasks[index].schedule = TaskSchedule(times: .every(.seconds(1)))
                try await withDaemon(manifest) { daemon in
                    for clock in ["+10h", "real", "-10h", "real"] {
                        _ = try await daemon.host.simulate(clock: try SimulatedClock(clock))
                        let status = await daemon.host.status()
                        var next = await daemon.host.pending(task: "echo", limit: 1).requests.first
                        // The next request may be on its way to the store.
                        while next == nil {
                            await Task.yield()
                            next = await daemon.host.pending(task: "echo", limit: 1).requests.first
                        }
                        // Not before the question: on a busy machine it may be about a later request.
                        let now = WallClock.now + status.simulation.clockOffset
                        let wait = try #require(next?.earliestBegin) - now
                        #expect(wait <= 1_000_000_000 + ClockSteps.stepMin, "\(clock)")
                        let ended = await daemon.host.runs(task: "echo", limit: 1000).count
                        try await daemon.line(LogFilter(task: "echo")) { _ in
                            daemon.log.entries(matching: LogFilter(task: "echo"), limit: 8192)
                                .count { $0.event == "run.ended" } > ended
                        }
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A calendar waits until the clock is right`() async {
            await #expect(processExitsWith: .success) {
                var manifest = try TestManifest.misbehave()
                let index = try #require(
                    manifest.tasks.firstIndex { $0.identifier.description == "echo" }
                )
                manifest.tasks[index].schedule = TaskSchedule(
                    times: .calendar(
                        try CalendarExpression("* * * * * *"),
                        zone: .utc,
                        gap: .shift,
                        fold: .first
                    )
                )
                let doubt = Mutex<ClockDoubt?>(.unsynchronised)
                try await withDaemon(
                    manifest,
                    adjust: { $0.clockDoubt = { doubt.withLock { $0 } } }
                ) { daemon in
                    try await daemon.line { $0.event == "clock.doubted" }
                    let waiting = await daemon.host.pending(task: "echo", limit: 1).requests.first
                    #expect(
                        waiting?.waitingFor.contains { $0.contains("not synchronised yet") } == true
                    )
                    // Others run meanwhile.
                    let run = try await daemon.run("witness.echo")
                    #expect(run.outcome == .succeeded)
                    #expect(await daemon.host.runs(task: "echo", limit: 1).isEmpty)
                    doubt.withLock { $0 = nil }
                    try await daemon.line(LogFilter(task: "echo")) { $0.event == "run.ended" }
                    let lines = daemon.log.entries(matching: LogFilter(), limit: 8192)
                    let believed = try #require(lines.first { $0.event == "clock.believed" })
                    let ended = lines.first { $0.event == "run.ended" && $0.task == "echo" }
                    #expect(believed.time <= ended?.time ?? 0)
                }
            }
        }
    }
}
