// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostControl
import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

/// Notifications of the real daemon: over its death, by the command line, and through links.
@Suite(.ownThreads, .serialized) struct NotificationTests {
    private func manifest(_ folder: TemporaryDirectory, _ more: String = "") throws -> String {
        try folder.write(
            """
            {"version": 1, "host": {"slots": 8},
             "plugins": {"notify": {"library": "\(try Fixture.library("notify"))",
                                    "permissions": {"notify": true},
                                    "maxPending": {"refresh": 100000}}},
             "tasks": {"post.*": {"plugin": "notify", "handler": "post", "overlap": "allow"},
                       "tell.*": {"plugin": "notify", "handler": "deliver", "overlap": "allow"}},
             "notifications": {"task": "tell.*", "rate": {"count": 1000, "per": "1s"}\(more)}}
            """,
            to: "tasks.json"
        )
    }

    private func daemon(_ manifest: String, _ folder: TemporaryDirectory) throws -> TestDaemon {
        try TestDaemon(manifest: manifest, folder: folder, arguments: ["--log-level", "debug"])
    }

    private func lines(_ daemon: TestDaemon, _ name: String) throws -> [String] {
        guard let bytes = try? File.read("\(daemon.state)/data/notify/\(name)") else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func with<Result: Sendable>(
        _ daemon: TestDaemon,
        _ body: (ControlClient) async throws -> Result
    ) async throws -> Result {
        try await ControlClient.with(socketPath: daemon.state + "/control.sock", body)
    }

    /// What `post` gives a notification, in the parameters of an answer.
    private let content =
        #""level":"active","title":"t","subtitle":"","body":"","thread":"","category":"""#

    private func post(_ client: ControlClient, _ id: String, _ more: String = "") async throws {
        let submission = Submission(
            task: "post.\(id)",
            parameters: #"{"id":"\#(id)","title":"t"\#(more)}"#
        )
        let request = try await client.submit(submission).value.id
        _ = try await client.endedRun(ofRequest: request)
    }

    // MARK: The clock

    /// Posts from a clock that is ahead: an interval, and one for now whose delivery fails.
    @Test(.timeLimit(.minutes(10)))
    func `A clock that is set back silences no notification`() async throws {
        let folder = try TemporaryDirectory()
        let daemon = try daemon(try manifest(folder), folder)
        let refuse = "\(daemon.state)/data/notify/refuse"
        try await with(daemon) { client in
            _ = try await client.simulate(clock: "+10h")
            try await post(client, "often", #","every":60000"#)
            try #require(
                daemon.program.line(containing: "notification `often` of `notify`") != nil
            )
            let fd = open(refuse, O_CREAT | O_WRONLY, 0o600)
            try #require(fd >= 0)
            close(fd)
            try await post(client, "once")
            try #require(daemon.program.line(containing: "it is tried again in") != nil)
            _ = try await client.simulate(clock: "real")
            unlink(refuse)
            let outbox = try await client.outbox().value
            let often = try #require(outbox.first { $0.id == "often" })
            #expect(often.due ?? .max <= Int64(time(nil) + 61) * 1_000_000_000, "\(often)")
            // The next attempt comes seconds after the first, and not at a time that lies hours ahead.
            var once = outbox.first { $0.id == "once" }
            while once?.state != .delivered {
                once = try await client.outbox().value.first { $0.id == "once" }
            }
        }
        #expect(daemon.stop() == 0)
    }

    // MARK: Crashes

    @Test(.timeLimit(.minutes(10)))
    func `A daemon killed during a delivery delivers again with the same key`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let manifest = try manifest(folder)
        let first = try daemon(manifest, folder)
        let hold = "\(first.state)/data/notify/hold"
        let fd = open(hold, O_CREAT | O_WRONLY, 0o600)
        try #require(fd >= 0)
        close(fd)
        try await with(first) { try await post($0, "a") }
        try #require(first.program.line(containing: "told") != nil)
        first.program.signal(SIGKILL)
        #expect(first.program.end() == -SIGKILL)
        unlink(hold)

        let second = try daemon(manifest, folder)
        #expect(second.program.line(containing: "notification `a` of `notify`") != nil)
        #expect(second.stop() == 0)
        let keys = try lines(second, "told").map { try JSONReader.parse($0)["key"]?.string }
        #expect(keys.count == 2)
        #expect(Set(keys).count == 1)
    }

    @Test(.timeLimit(.minutes(20)))
    func `30 daemons killed during posts and deliveries lose no notification`() async throws {
        let folder = try TemporaryDirectory()
        let manifest = try manifest(folder)
        var random = SeededGenerator(seed: 0xBEE)
        var number = 0
        for _ in 0..<30 {
            let daemon = try daemon(manifest, folder)
            let pid = daemon.program.pid
            let count = Int.random(in: 1...6, using: &random)
            let ids = (number..<number + count).map { "n\($0)" }
            number += count
            let last = Int.random(in: 0..<count, using: &random)
            try? await with(daemon) { client in
                await withTaskGroup { group in
                    for (index, id) in ids.enumerated() {
                        group.addTask {
                            try? await self.post(client, id)
                            if index == last { kill(pid, SIGKILL) }
                        }
                    }
                }
            }
            // Clients that could not connect leave it alive, and nothing else would end it.
            kill(pid, SIGKILL)
            #expect(daemon.program.end() == -SIGKILL)
        }

        let last = try daemon(manifest, folder)
        try await with(last) { client in
            // Interrupted runs start again, and may post again.
            while true {
                let newest = try await client.runs(task: nil, limit: 1).value.first?.id
                let pending = try await client.pending(task: nil).value.requests
                let status = try await client.status().value
                let outbox = try await client.outbox().value
                // A run that starts between two questions is in neither answer, but it is the newest.
                let same = try await client.runs(task: nil, limit: 1).value.first?.id == newest
                guard same, pending.isEmpty, status.slotsInUse == 0,
                    outbox.allSatisfy({ $0.state == .delivered })
                else { continue }
                break
            }
        }
        #expect(last.stop() == 0)
        let promised = Set(try lines(last, "posted"))
        let told = Set(
            try lines(last, "told").compactMap { try JSONReader.parse($0)["id"]?.string }
        )
        #expect(promised.count > 30)
        #expect(promised.subtracting(told).isEmpty)
    }

    // MARK: The command line

    @Test(.timeLimit(.minutes(5)))
    func `The commands list, test and answer notifications`() async throws {
        let folder = try TemporaryDirectory()
        let daemon = try daemon(try manifest(folder), folder)
        #expect(try daemon.command(["notify", "outbox"]).output == "no notifications\n")
        #expect(try daemon.command(["notify", "test"]).output.hasPrefix("posted test ("))
        #expect(daemon.program.line(containing: "notification `test`") != nil)
        try await with(daemon) {
            try await post($0, "a", #","actions":[{"id":"x","title":"X"}]"#)
        }
        #expect(daemon.program.line(containing: "notification `a` of") != nil)
        let list = try daemon.command(["notify", "outbox", "--json"])
        #expect(list.exitCode == 0)
        let rows = try JSONReader.parse(list.output)["notifications"]?.array ?? []
        #expect(rows.map { $0["id"]?.string } == ["test", "a"])
        #expect(rows.map { $0["state"]?.string } == ["delivered", "delivered"])
        let metrics = try daemon.command(["metrics"]).output.split(separator: "\n")
        for line in [
            #"bghost_notifications_total{event="posted"} 2"#,
            #"bghost_notifications_total{event="delivered"} 2"#,
            #"bghost_notifications_total{event="failed"} 0"#,
        ] {
            #expect(metrics.contains(Substring(line)), "\(line)")
        }

        let wrong = try daemon.command(["notify", "act", "a", "y"])
        #expect(wrong.exitCode != 0)
        #expect(wrong.error.contains("BG6002"))
        let unknown = try daemon.command(["notify", "act", "b", "x"])
        #expect(unknown.error.contains("BG6001"))
        let answer = try daemon.command(["notify", "act", "a", "x", "--text", "hello"])
        #expect(answer.exitCode == 0, "\(answer)")
        #expect(daemon.program.line(containing: "notificationAction.notify.") != nil)
        try #require(daemon.program.line(containing: "answer taken") != nil)
        #expect(
            try lines(daemon, "answers")
                == [
                    #"{"id":"a","action":"x","text":"hello",\#(content),"userInfo":{}}"#
                ]
        )
        #expect(daemon.stop() == 0)
    }

    // MARK: Links

    @Test(.timeLimit(.minutes(5)))
    func `An answer link works for its holder, on this machine only`() async throws {
        let folder = try TemporaryDirectory()
        let port = try Loopback.freePort()
        let daemon = try daemon(
            try manifest(folder, #", "actionLink": true, "actionPort": \#(port)"#),
            folder
        )
        try #require(daemon.program.line(containing: "links to actions at") != nil)
        try await with(daemon) {
            try await post($0, "a", #","actions":[{"id":"x/ y","title":"<X>"}]"#)
        }
        #expect(daemon.program.line(containing: "notification `a` of") != nil)
        let told = try JSONReader.parse(try #require(try lines(daemon, "told").first))
        let link = try #require(told["actionURLs"]?["x/ y"]?.string)
        let origin = "http://127.0.0.1:\(port)"
        #expect(link.hasPrefix(origin + "/act/"))
        let path = String(link.dropFirst(origin.utf8.count))
        func ask(_ method: String, _ path: String, _ headers: String...) throws -> String {
            try Loopback.ask(port, method, path, headers)
        }
        let host = "Host: 127.0.0.1:\(port)"

        let page = try ask("GET", path, host)
        #expect(page.hasPrefix("HTTP/1.1 200"))
        #expect(page.contains("<form method=\"post\"><button>&lt;X&gt;</button></form>"))
        #expect(page.lowercased().contains("referrer-policy: same-origin"))
        #expect(try lines(daemon, "answers").isEmpty)

        for (headers, status) in [
            ([host, "Origin: http://evil.example"], 403),
            ([host, "Origin: null"], 403),
            (["Host: evil.example:\(port)"], 403),
            (["Host: 127.0.0.1"], 403),
        ] {
            let answer = try Loopback.ask(port, "POST", path, headers)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(headers): \(answer)")
        }
        #expect(try ask("GET", path, "Host: evil.example").hasPrefix("HTTP/1.1 403"))
        let other = "/act/" + String(repeating: "0", count: 32) + "/x"
        #expect(try ask("POST", other, host).hasPrefix("HTTP/1.1 404"))
        #expect(try ask("GET", "/v1/status", host).hasPrefix("HTTP/1.1 404"))
        let token = path.split(separator: "/")[1]
        #expect(try ask("POST", "/act/\(token)/z", host).hasPrefix("HTTP/1.1 400"))
        #expect(try lines(daemon, "answers").isEmpty)

        let done = try ask("POST", path, host, "Origin: \(origin)")
        #expect(done.hasPrefix("HTTP/1.1 202"), "\(done)")
        try #require(daemon.program.line(containing: "answer taken") != nil)
        #expect(
            try lines(daemon, "answers")
                == [
                    #"{"id":"a","action":"x/ y","text":null,\#(content),"userInfo":{}}"#
                ]
        )
        #expect(daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Links are served only if the manifest says so, and a used port stops nothing`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let holder = try Loopback.Holder()
        let more = #", "actionLink": true, "actionPort": \#(holder.port)"#
        let daemon = try daemon(try manifest(folder, more), folder)
        #expect(daemon.program.line(containing: "links to actions are not served") != nil)
        #expect(try daemon.command(["notify", "outbox"]).exitCode == 0)
        #expect(daemon.stop() == 0)
    }
}
