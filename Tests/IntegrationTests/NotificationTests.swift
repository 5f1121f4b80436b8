// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostStore
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Notifications from a plugin's post to the run that delivers them, and back as answers.
    @Suite struct NotificationTests {
        private static let posting = [
            "post", "odd-posts", "withdraw", "pending",
        ]

        private func manifest(
            _ isolation: Isolation = .worker,
            task: String = "tell.*",
            notify: Bool = true,
            rate: NotificationSettings.Rate = .init()
        ) throws -> Manifest {
            let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
            var tasks = try Self.posting.map {
                try TestManifest.task($0, "notify", $0, limits, overlap: .allow)
            }
            tasks.append(try TestManifest.task(task, "notify", "deliver", limits))
            return Manifest(
                plugins: [
                    PluginDefinition(
                        name: "notify",
                        library: try Fixture.library("notify"),
                        isolation: isolation,
                        runsPerWorker: isolation == .worker ? 1 : 4,
                        permissions: Permissions(notify: notify)
                    )
                ],
                tasks: tasks,
                notifications: NotificationSettings(
                    task: try TestManifest.pattern(task),
                    rate: rate
                )
            )
        }

        private func path(_ daemon: RunningHost, _ name: String) -> String {
            daemon.folder.file("state/data/notify/\(name)")
        }

        private func lines(_ daemon: RunningHost, _ name: String) throws -> [JSONNode] {
            guard let bytes = try? File.read(path(daemon, name)) else { return [] }
            return try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
                try JSONReader.parse(String($0))
            }
        }

        private func make(_ daemon: RunningHost, _ name: String) throws {
            let fd = open(path(daemon, name), O_CREAT | O_WRONLY, 0o600)
            try #require(fd >= 0)
            close(fd)
        }

        private func post(_ daemon: RunningHost, _ parameters: String) async throws -> String {
            let run = try await daemon.run("post", parameters)
            #expect(run.outcome == .succeeded)
            return try await daemon.line(LogFilter(run: run.id)) {
                $0.message.hasPrefix("post answered")
            }.message
        }

        private func delivered(_ daemon: RunningHost, _ id: String) async throws {
            try await daemon.line {
                $0.event == "notification.delivered" && $0.message.contains("`\(id)`")
            }
        }

        /// Waits until so many have been delivered.
        private func deliveries(_ daemon: RunningHost, _ count: Int) async throws {
            var seen = 0
            try await daemon.line { entry in
                if entry.event == "notification.delivered" { seen += 1 }
                return seen == count
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases, ["tell.*", "tell"])
        func `The delivering task of the manifest delivers a notification`(
            isolation: Isolation,
            task: String
        ) async throws {
            try await withDaemon(try manifest(isolation, task: task)) { daemon in
                let answer = try await post(
                    daemon,
                    #"{"id":"a","title":"A","userInfo":{"n":1},"actions":[{"id":"x","title":"X"}]}"#
                )
                #expect(answer == "post answered 0")
                try await delivered(daemon, "a")
                let told = try #require(try lines(daemon, "told").first)
                #expect(told["id"]?.string == "a")
                #expect(told["title"]?.string == "A")
                #expect(told["plugin"]?.string == "notify")
                #expect(told["level"]?.string == "active")
                #expect(told["userInfo"]?.text == #"{"n":1}"#)
                #expect(told["actions"]?.text == #"[{"id":"x","title":"X"}]"#)
                #expect(told["key"]?.string?.utf8.count == 26)
                #expect(told["actionURLs"] == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Without permission post() fails, and the log says what to add`()
            async throws
        {
            try await withDaemon(try manifest(notify: false)) { daemon in
                #expect(try await post(daemon, #"{"id":"a","title":"A"}"#) == "post answered -13")
                try await daemon.line(LogFilter(plugin: "notify")) {
                    $0.event == "call.refused" && $0.message.contains(#"add `"notify": true`"#)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `An invalid notification is refused, and the worker goes on`(
            isolation: Isolation
        ) async throws {
            try await withDaemon(try manifest(isolation)) { daemon in
                let run = try await daemon.run("odd-posts")
                #expect(run.outcome == .succeeded)
                let line = try await daemon.line(LogFilter(run: run.id)) {
                    $0.message.hasPrefix("odd posts")
                }
                #expect(line.message == "odd posts -12 -10 -12 -12 -12 -12 -12 -12")
                #expect(try await post(daemon, #"{"id":"a"}"#) == "post answered -12")
                let long = String(repeating: "x", count: 4097)
                let answer = try await post(daemon, #"{"id":"a","title":"\#(long)"}"#)
                #expect(answer == "post answered -14")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A later notification with its id replaces it, and withdrawing removes it`()
            async throws
        {
            try await withDaemon(try manifest()) { daemon in
                let later = (WallClock.now + hour) / 1_000_000
                for (id, title) in [("a", "old"), ("a", "new"), ("b", "gone")] {
                    _ = try await post(
                        daemon,
                        #"{"id":"\#(id)","title":"\#(title)","at":"\#(later)"}"#
                    )
                }
                let pending = try await daemon.run("pending")
                let list = try JSONReader.parse(pending.result).array ?? []
                #expect(list.map { $0["title"]?.string } == ["new", "gone"])
                #expect(list.first?["at_unix_ms"]?.int64 == later)
                for (id, status) in [("b", 0), ("b", -16), ("c", -16)] {
                    let run = try await daemon.run("withdraw", #"{"id":"\#(id)"}"#)
                    try await daemon.line("withdraw answered \(status)", LogFilter(run: run.id))
                }
                _ = try await daemon.host.simulate(clock: try SimulatedClock("+61m"))
                try await delivered(daemon, "a")
                #expect(try lines(daemon, "told").map { $0["title"]?.string } == ["new"])
                _ = try await post(daemon, #"{"id":"a","title":"newest"}"#)
                try await deliveries(daemon, 2)
                #expect(try await daemon.run("pending").result == "[]")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A failed delivery retries with the same key and does not fail the poster`()
            async throws
        {
            try await withDaemon(try manifest(), adjust: durable) { daemon in
                _ = try await daemon.run("pending")
                try make(daemon, "refuse")
                #expect(try await post(daemon, #"{"id":"a","title":"A"}"#) == "post answered 0")
                let failure = try await daemon.line { $0.event == "notification.failed" }
                #expect(failure.message.contains("no receiver"))
                let waiting = try #require(try await daemon.host.outbox().first)
                // More than one if the test did not come to look for five seconds.
                #expect(waiting.failures >= 1 && waiting.state != .delivered)
                unlink(path(daemon, "refuse"))
                try await delivered(daemon, "a")
                #expect(try lines(daemon, "told").map { $0["key"]?.string } == [waiting.key])
                #expect(try await daemon.host.outbox().map(\.state) == [.delivered])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Notifications above the rate become one digest`() async throws {
            let rate = NotificationSettings.Rate(count: 1, per: .seconds(3600))
            try await withDaemon(try manifest(rate: rate)) { daemon in
                for id in ["a", "b", "c"] {
                    _ = try await post(daemon, #"{"id":"\#(id)","title":"title \#(id)"}"#)
                }
                try await delivered(daemon, "a")
                #expect(try lines(daemon, "told").count == 1)
                _ = try await daemon.host.simulate(clock: try SimulatedClock("+61m"))
                try await daemon.line {
                    $0.event == "notification.delivered" && $0.message.contains("`digest-")
                }
                let told = try lines(daemon, "told")
                #expect(
                    told.map { $0["title"]?.string } == ["title a", "2 notifications of notify"]
                )
                #expect(told.last?["body"]?.string == "title b\ntitle c")
                #expect(try await daemon.host.outbox().allSatisfy { $0.state == .delivered })
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `An answer starts a run, and another one until one succeeds`(
            isolation: Isolation
        ) async throws {
            try await withDaemon(try manifest(isolation)) { daemon in
                _ = try await post(
                    daemon,
                    #"{"id":"a","title":"A","userInfo":{"n":1},"actions":[{"id":"x","title":"X"}]}"#
                )
                try await delivered(daemon, "a")
                try make(daemon, "fail-once")
                let answer = try await daemon.host.act(
                    on: .id("a", plugin: nil),
                    action: "x",
                    text: "so what"
                )
                #expect(answer.task.hasPrefix("notificationAction.notify."))
                // A second one does not take the place of the first.
                let second = try await daemon.host.act(
                    on: .id("a", plugin: "notify"),
                    action: "default",
                    text: nil
                )
                #expect(second.task != answer.task)
                // One of the two.
                try await daemon.line { $0.event == "request.again" }
                _ = try await daemon.host.simulate(clock: try SimulatedClock("+1m"))
                for task in [answer.task, second.task] {
                    try await daemon.line(LogFilter(task: task)) {
                        $0.event == "run.ended" && $0.message.hasPrefix("succeeded")
                    }
                }
                let answers = try lines(daemon, "answers").map(\.text)
                let content =
                    #""level":"active","title":"A","subtitle":"","body":"","thread":"","category":"""#
                let end = #"\#(content),"userInfo":{"n":1}}"#
                #expect(
                    answers.sorted() == [
                        #"{"id":"a","action":"default","text":null,\#(end)"#,
                        #"{"id":"a","action":"x","text":"so what",\#(end)"#,
                    ]
                )
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An invalid answer is refused, with the valid ones`() async throws {
            try await withDaemon(try manifest()) { daemon in
                _ = try await post(
                    daemon,
                    #"{"id":"storm","title":"A","actions":[{"id":"photo","title":"X"}]}"#
                )
                for (id, action, code) in [
                    ("strom", "photo", OperatorRefusal.Code.noSuchNotification),
                    ("storm", "phtoo", .badAction),
                ] {
                    let refusal = await #expect(throws: OperatorRefusal.self) {
                        try await daemon.host.act(
                            on: .id(id, plugin: nil),
                            action: action,
                            text: nil
                        )
                    }
                    #expect(refusal?.code == code)
                    #expect(refusal?.description.contains("did you mean") == true)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An id that several plugins have is refused with their names`() async throws {
            var manifest = try manifest()
            var other = manifest.plugins[0]
            other.name = "other"
            manifest.plugins.append(other)
            manifest.tasks.append(try TestManifest.task("other-post", "other", "post", nil))
            try await withDaemon(manifest) { daemon in
                let content = #"{"id":"storm","title":"A"}"#
                #expect(try await post(daemon, content) == "post answered 0")
                let run = try await daemon.run("other-post", content)
                #expect(run.outcome == .succeeded)
                try await deliveries(daemon, 2)
                let refusal = await #expect(throws: OperatorRefusal.self) {
                    try await daemon.host.act(
                        on: .id("storm", plugin: nil),
                        action: "default",
                        text: nil
                    )
                }
                #expect(refusal?.code == .ambiguousNotification)
                #expect(refusal?.fix == "name one with --plugin: notify, other")
                let answer = try await daemon.host.act(
                    on: .id("storm", plugin: "other"),
                    action: "default",
                    text: nil
                )
                #expect(answer.plugin == "other")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A test notification is delivered like any other`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let posted = try await daemon.host.postTestNotification()
                try await delivered(daemon, posted.id)
                let told = try #require(try lines(daemon, "told").first)
                #expect(told["plugin"]?.string == "(bghost)")
                #expect(told["key"]?.string == posted.key)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A calendar of a zone has it delivered again and again`() async throws {
            try await withDaemon(try manifest()) { daemon in
                let answer = try await post(
                    daemon,
                    #"{"id":"a","title":"A","calendar":"0 12 * * *"}"#
                )
                #expect(answer == "post answered 0")
                for count in 1...2 {
                    _ = try await daemon.host.simulate(clock: try SimulatedClock("+24h"))
                    try await deliveries(daemon, count)
                }
                let due = try #require(try await daemon.host.outbox().first?.due)
                #expect(due % (24 * hour) == 12 * hour)
                #expect(
                    try await post(daemon, #"{"id":"b","title":"B","calendar":"never"}"#)
                        == "post answered -12"
                )
            }
        }
    }
}
