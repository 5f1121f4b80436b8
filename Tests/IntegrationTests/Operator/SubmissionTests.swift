// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import Testing

extension Integration {
    /// Which submissions are accepted, beside what waits.
    @Suite struct SubmissionTests {
        @Test(.timeLimit(.minutes(5)))
        func `A latest begin date that cannot be kept is refused, and one that passes is missed`()
            async throws
        {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let now = WallClock.now
                for (earliest, latest) in [
                    (nil, now - 1), (now + 2 * hour, now + hour), (nil, Int64.min),
                ] {
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.submit(
                            Submission(task: "echo", earliestBegin: earliest, latestBegin: latest)
                        )
                    }
                    #expect(error?.code == .pastLatestBegin)
                }
                _ = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: now + hour, latestBegin: .max)
                )
                let run = try await daemon.begin("honour-cancel")
                let late = try await daemon.host.submit(
                    Submission(task: "honour-cancel", latestBegin: WallClock.now + hour)
                )
                _ = try await daemon.host.simulate(clock: .by(2 * hour))
                #expect(await daemon.host.waitForRun(ofRequest: late.id) == nil)
                try await daemon.line { $0.event == "request.missed" }
                #expect(await daemon.host.stop(run: run.id))
                _ = try await daemon.end(of: run)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A submission with onConflict keep returns the pending request`() async throws {
            try await withDaemon(try TestManifest.misbehave(), adjust: durable) { daemon in
                let date = WallClock.now + hour
                let keep = Submission(
                    task: "echo",
                    parameters: #"{"n":2}"#,
                    earliestBegin: date,
                    onConflict: .keep
                )
                // All at once: those that come while the first is on its way to the store wait.
                let answers = try await withThrowingTaskGroup(of: PendingRequest.self) { group in
                    for _ in 0..<8 { group.addTask { try await daemon.host.submit(keep) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(answers.map(\.id)).count == 1)
                #expect(answers.count { !$0.isKept } == 1)
                let list = await daemon.host.pending(task: "echo", limit: 10)
                #expect(list.requests.map(\.id) == [answers[0].id])
                let replacing = try await daemon.host.submit(
                    Submission(task: "echo", earliestBegin: date)
                )
                #expect(replacing.id != answers[0].id && !replacing.isKept)
            }
        }
    }
}
