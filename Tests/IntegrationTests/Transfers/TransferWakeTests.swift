// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import Testing

extension Integration {
    /// Wakes: runs that receive ended transfers.
    @Suite struct TransferWakeTests {
        private func begin(
            _ server: FileServer,
            _ daemon: RunningHost,
            session: String = "s",
            _ more: [(String, String)] = []
        ) async throws {
            let parameters = TransferManifest.parameters(server, session: session, more)
            #expect(try await daemon.run("begin", parameters).outcome == .succeeded)
        }

        private func wakeEnded(_ daemon: RunningHost, _ session: String = "s") async throws {
            try await daemon.line(LogFilter(task: "urlSession.\(session)")) {
                $0.event == "run.ended" && $0.message.hasPrefix("succeeded")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session gets one wake when all its transfers have ended`() async throws {
            try await withFile(holdAt: 1000) { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    try await begin(server, daemon)
                    await server.held()
                    // Another one of the session, which ends at once.
                    try await begin(server, daemon, [("url2", ""), ("headers", "Range-X: 1\n")])
                    server.release()
                    let told = try await daemon.told("told")
                    #expect(told["transfers"]?.array?.count == 2)
                    try await wakeEnded(daemon)
                    let files = told["transfers"]?.array?.compactMap { $0["file"]?.string } ?? []
                    #expect(Set(files).count == 2)
                    _ = try await daemon.run("list", TransferManifest.parameters(server))
                    #expect(try await daemon.told("list").array?.isEmpty == true)
                    try await daemon.line("answers of list: 0 0 0, the same length")
                    #expect(daemon.count { $0.message.hasPrefix("wake ") } == 1)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session's wake repeats until a run succeeds`() async throws {
            try await withFile { server in
                let manifest = try TransferManifest.of(server) {
                    $0.retry.backoff = .exponential(base: .milliseconds(1), cap: .seconds(1))
                }
                try await withDaemon(manifest) { daemon in
                    try await begin(server, daemon, session: "crashing")
                    let task = LogFilter(task: "urlSession.crashing")
                    for attempt in 1...2 {
                        try await daemon.line("wake 1 attempt \(attempt)")
                        try await daemon.line(task) { entry in
                            entry.event == "request.again"
                                && entry.message.contains("\(attempt + 1)")
                        }
                    }
                    try await daemon.line("wake 1 attempt 3")
                    try await wakeEnded(daemon, "crashing")
                    let told = daemon.log.entries(matching: LogFilter(), limit: 8192)
                        .filter { $0.message.hasPrefix("told ") }.map(\.message)
                    #expect(told.count == 3)
                    #expect(Set(told).count == 1, "not the same is told each time")
                }
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session gets its ended transfers after a restart`() async throws {
            let folder = try TemporaryDirectory()
            try await withFile { server in
                let manifest = try TransferManifest.of(server) {
                    $0.retry.backoff = .exponential(base: .seconds(3), cap: .seconds(3))
                }
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    try await begin(server, daemon, session: "failing")
                    try await daemon.line("wake 1 attempt 1")
                    try await daemon.line(LogFilter(task: "urlSession.failing")) {
                        $0.event == "request.again"
                    }
                }
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    // The second, unless its pause was over before the first daemon was.
                    try await daemon.line { $0.message.hasPrefix("wake 1 attempt ") }
                    let told = try await daemon.told("told")
                    #expect(told["transfers"]?.array?.count == 1)
                    let id = try #require(told["transfers"]?.array?.first?["id"]?.string)
                    // An acknowledgement ends the repeated wakes.
                    _ = try await daemon.run("acknowledge", #"{"id":"\#(id)"}"#)
                    try await daemon.line("answered 0")
                    // Or, if the next wake had begun, its end.
                    let ends = ["request.cancelled", "run.ended"]
                    try await daemon.line(LogFilter(task: "urlSession.failing")) {
                        $0.event == ends[0] || $0.message.contains("withdrawn")
                            || $0.event == ends[1] && $0.message.hasPrefix("succeeded")
                    }
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                }
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session that restarts transfers in each wake waits, whatever the clock says`()
            async throws
        {
            let hours: Int64 = 3 * hour
            try await withFile { server in
                try await withDaemon(
                    try TransferManifest.of(server),
                    adjust: { $0.timeouts.wake = hours }
                ) { daemon in
                    try await begin(server, daemon, session: "renewing")
                    let task = LogFilter(task: "urlSession.renewing")
                    try await daemon.line("wake 1 attempt 1", task)
                    try await daemon.line(task) { $0.event == "session.limited" }
                    let first = try #require(
                        await daemon.host.pending(task: "urlSession.renewing", limit: 1).requests
                            .first
                    )
                    let delay = (first.earliestBegin ?? 0) - first.submittedAt
                    #expect((2 * hour...hours).contains(delay), "\(delay)")
                    let why = try await daemon.host.explain("urlSession.renewing")
                    let gates = why.requests.first?.gates.filter { !$0.isOpen } ?? []
                    #expect(gates.contains { $0.sentence.contains("begins new") }, "\(gates)")
                    // It counts the time that passes, and not what the clock is set to.
                    _ = try await daemon.host.simulate(clock: .by(hour))
                    let moved = try #require(
                        await daemon.host.pending(task: "urlSession.renewing", limit: 1).requests
                            .first
                    )
                    #expect(moved.id == first.id)
                    let by = (moved.earliestBegin ?? 0) - (first.earliestBegin ?? 0)
                    #expect((by - hour).magnitude < 1_000_000_000, "\(by)")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session that restarts transfers in each wake backs off`() async throws {
            try await withFile { server in
                try await withDaemon(
                    try TransferManifest.of(server),
                    adjust: { $0.timeouts.wake = 3_000_000_000 }
                ) { daemon in
                    try await begin(server, daemon, session: "renewing")
                    // The daemon's own words for each wait: a request may begin before it is looked at.
                    var delays: [Int64] = []
                    var wakes: [Int64] = []
                    for await entry in daemon.follow(LogFilter(task: "urlSession.renewing"))
                    where entry.event == "session.limited" {
                        let date = try #require(
                            entry.message.firstMatch(of: /is woken at (\S+Z),/)
                        )
                        let woken = try #require(Timestamp.unixNanoseconds(String(date.1)))
                        delays.append(woken - entry.time)
                        wakes.append(woken)
                        if delays.count == 2 { break }
                    }
                    // From when the handler began a transfer, so less is left by its end, on a busy machine
                    // much less; and that was after the wake before.
                    #expect(delays[0] <= 3_000_000_000 && delays[1] <= 6_000_000_000, "\(delays)")
                    #expect(wakes[1] - wakes[0] >= 6_000_000_000, "\(wakes)")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A session without launch events gets no wake`() async throws {
            try await withFile { server in
                let manifest = try TransferManifest.of(server) { $0.sendsLaunchEvents = false }
                try await withDaemon(manifest) { daemon in
                    try await begin(server, daemon)
                    try await daemon.line { $0.event == "transfer.ended" }
                    let list = await daemon.host.transfers()
                    #expect(list.map(\.stateName) == ["done"])
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An end with BG_TRANSFER_NO_WAKE waits until a run asks for it`() async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    // BG_TRANSFER_NO_WAKE.
                    try await begin(server, daemon, [("flags", "16")])
                    let id = try await daemon.said("began")
                    try await daemon.line { $0.event == "transfer.ended" }
                    _ = try await daemon.run("list", TransferManifest.parameters(server))
                    let list = try await daemon.told("list")
                    #expect(list.array?.compactMap { $0["id"]?.string } == [id])
                    #expect(list.array?.first?["state"]?.string == "done")
                    let file = try #require(list.array?.first?["file"]?.string)
                    #expect(try File.read(file) == server.content)
                    _ = try await daemon.run("acknowledge", #"{"id":"\#(id)"}"#)
                    try await daemon.line("answered 0")
                    _ = try await daemon.run("acknowledge", #"{"id":"\#(id)"}"#)
                    try await daemon.line("answered -16")
                    #expect(daemon.count { $0.message.hasPrefix("wake ") } == 0)
                }
            }
        }
    }
}
