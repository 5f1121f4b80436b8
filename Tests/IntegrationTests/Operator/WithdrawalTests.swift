// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension Integration {
    /// Requests that wait, and runs under way, that an operator ends.
    @Suite struct WithdrawalTests {
        @Test(.timeLimit(.minutes(5)))
        func `An operator lists pending requests and withdraws one or all`() async throws {
            try await withDaemon(try TestManifest.failingTwice(after: .seconds(3600))) { daemon in
                let host = daemon.host
                let date = WallClock.now + hour
                let echo = try await host.submit(
                    Submission(task: "echo", earliestBegin: date, latestBegin: date + hour)
                )
                let params = try await host.submit(Submission(task: "params", earliestBegin: date))
                let failing = try await host.submit(Submission(task: "fail"))
                try await daemon.line(LogFilter(task: "fail")) { $0.event == "request.again" }

                let list = await host.pending(task: nil, limit: 10)
                #expect(list.total == 3)
                #expect(list.requests.map(\.task) == ["echo", "fail", "params"])
                #expect(list.requests[0].latestBegin == date + hour)
                #expect(list.requests[0].waitingFor == ["its earliest begin date"])
                #expect(list.requests[1].id == failing.id)
                #expect(list.requests[1].counters == AttemptCounters(failures: 1))
                #expect(list.requests[1].attempt == 2)
                #expect(
                    await host.pending(task: "fail", limit: 10).requests.map(\.id) == [failing.id]
                )
                #expect(await host.pending(task: nil, limit: 1).requests.count == 1)
                #expect(await host.pending(task: nil, limit: 1).total == 3)

                let one = try await host.cancelPending(task: "fail")
                #expect(one.map(\.id) == [failing.id])
                let others = try await host.cancelPending(task: nil)
                #expect(Set(others.map(\.id)) == [echo.id, params.id])
                #expect(await host.pending(task: nil, limit: 10).total == 0)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Requests are withdrawn only if as many wait as expected`() async throws {
            try await withDaemon(try TestManifest.failingTwice(after: .seconds(3600))) { daemon in
                let host = daemon.host
                let date = WallClock.now + hour
                for task in ["echo", "params"] {
                    _ = try await host.submit(Submission(task: task, earliestBegin: date))
                }
                for (which, expected) in [(Withdrawal.all, 1), (.all, 3), (.task("echo"), 2)] {
                    let refusal = await #expect(throws: OperatorRefusal.self) {
                        try await host.cancelPending(which, expected: expected)
                    }
                    #expect(refusal?.code == .countChanged)
                    #expect(await host.pending(task: nil, limit: 10).total == 2)
                }
                let none = await #expect(throws: OperatorRefusal.self) {
                    try await host.cancelPending(.task("fail"), expected: 1)
                }
                #expect(none?.message.contains("there are 0") == true)
                #expect(try await host.cancelPending(.task("echo"), expected: 1).count == 1)
                #expect(try await host.cancelPending(.all, expected: 1).map(\.task) == ["params"])
                #expect(try await host.cancelPending(.all, expected: 0).isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A withdrawn request does not return after a restart`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.failingTwice(after: .seconds(3600))
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let date = WallClock.now + hour
                _ = try await daemon.host.submit(Submission(task: "echo", earliestBegin: date))
                _ = try await daemon.host.submit(Submission(task: "params", earliestBegin: date))
                #expect(try await daemon.host.cancelPending(task: "echo").count == 1)
            }
            try await withDaemon(manifest, folder: folder, adjust: durable) { daemon in
                let list = await daemon.host.pending(task: nil, limit: 10)
                #expect(list.requests.map(\.task) == ["params"])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler's request says in which run it was made`() async throws {
            try await withDaemon(try TestManifest.misbehave(slots: 4)) { daemon in
                // The request waits for the end of the run that its task has already.
                let other = try await daemon.begin("honour-cancel")
                let run = try await daemon.run("submit", #"{"task":"honour-cancel"}"#)
                #expect(run.outcome == .succeeded)
                #expect(other.id != run.id)
                let pending = await daemon.host.pending(task: "honour-cancel", limit: 10)
                #expect(pending.requests.map(\.submitter) == [.run(run.id)])
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["honour-cancel", "ignore-cancel"])
        func `A stopped run is neither throttled nor retried`(task: String) async throws {
            var manifest = try TestManifest.misbehave()
            for index in manifest.tasks.indices {
                manifest.tasks[index].retry = RetryPolicy(
                    backoff: .exponential(base: .milliseconds(1), cap: .seconds(1))
                )
            }
            try await withDaemon(manifest) { daemon in
                let request = try await daemon.host.submit(Submission(task: task))
                let run = try await daemon.begun(request)
                #expect(await daemon.host.stop(run: run.id))
                let record = try await daemon.end(of: run)
                #expect(record.stopReason == .user)
                #expect(
                    record.outcome
                        == (task == "honour-cancel" ? .cancelledClean : .killed(.graceExceeded))
                )
                #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                #expect(await daemon.host.throttles(task: nil).isEmpty)
                #expect(await daemon.host.deadLetters(task: nil, limit: 10).isEmpty)
                #expect(await daemon.host.stop(run: run.id) == false)
            }
        }
    }
}
