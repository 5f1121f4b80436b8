// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostLinux
import Testing

extension Integration {
    /// Which submissions are accepted, beside what waits.
    @Suite struct SubmissionTests {
        @Test(.timeLimit(.minutes(1)))
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
                    Submission(task: "honour-cancel", latestBegin: WallClock.now + 20_000_000)
                )
                #expect(await daemon.host.waitForRun(ofRequest: late.id) == nil)
                try await daemon.line { $0.event == "request.missed" }
                #expect(await daemon.host.stop(run: run.id))
                _ = try await daemon.end(of: run)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A submission that gives way is answered with what is pending`() async throws {
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

        @Test(.timeLimit(.minutes(1)))
        func `A plugin has no more pending requests than it may, of each kind`() async throws {
            var manifest = try TestManifest.misbehave(
                maxPending: PendingLimits(refresh: 2, processing: 1)
            )
            manifest.tasks.append(try TestManifest.task("many.*", "misbehave", "echo", nil))
            manifest.tasks.append(
                TaskDefinition(
                    identifier: try TestManifest.pattern("long.*"),
                    handler: .plugin(name: "misbehave", handler: "echo"),
                    kind: .processing
                )
            )
            try await withDaemon(manifest, adjust: durable) { daemon in
                let host = daemon.host
                let date = WallClock.now + hour
                func submit(_ task: String) async throws {
                    _ = try await host.submit(Submission(task: task, earliestBegin: date))
                }
                // All at once, so that what is on its way to the store counts too.
                let accepted = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<20 {
                        group.addTask { (try? await submit("many.\(number)")) != nil }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(accepted == 2)
                let list = await host.pending(task: nil, limit: 10)
                #expect(list.total == 2)
                let error = await #expect(throws: SubmitError.self) { try await submit("echo") }
                #expect(error?.code == .tooManyPendingTaskRequests)
                #expect(error?.message.contains("`maxPending`") == true)
                // Replacing one, the other kind, other plugins, and what is triggered.
                try await submit(list.requests[0].task)
                try await submit("long.a")
                try await submit("witness.echo")
                #expect(try await daemon.run("echo").outcome == .succeeded)
                await #expect(throws: SubmitError.self) { try await submit("long.b") }
                #expect(try await host.cancelPending(task: "long.a").count == 1)
                try await submit("long.b")
            }
        }
    }
}
