// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostCalendar
import BghostConfiguration
@testable import BghostDispatch
import BghostFacts
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import BghostPolicy
@testable import BghostServices
@testable import BghostControl
import BghostTestSupport
import Glibc
import Synchronization
import Testing

extension Integration {
    /// No question over the control socket changes what the daemon decides later.
    ///
    /// All that the control server answers and the command line asks, and in `ActionQuestionTests` the links to actions;
    /// `QuestionTests` asks the host.
    @Suite struct QuestionRouteTests {
        @Test(.timeLimit(.minutes(5)))
        func `No GET route changes a later decision`() async throws {
            try await Self.serving { daemon, server, path, subjects in
                let questions = subjects.questions
                let routes = server.routes.filter { $0.hasPrefix("GET ") }
                    .map { String($0.dropFirst(4)) }
                #expect(routes.sorted() == questions.keys.sorted(), "a route has no question here")
                let endpoints = Endpoint.allCases.filter { $0.verb == "GET" }.map(\.path)
                #expect(Set(routes).isSuperset(of: endpoints), "an endpoint has no route")
                #expect(routes.count > 10)
                let answers = subjects.each.answers
                let before = await daemon.host.picture()
                for route in routes {
                    for question in questions[route]?.found ?? [] {
                        let answer = try Self.ask(path, question)
                        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(question): \(answer)")
                        #expect(answer.contains(answers[question] ?? ""), "\(question): \(answer)")
                    }
                    for question in questions[route]?.refused ?? [] {
                        let answer = try Self.ask(path, question)
                        #expect(!answer.hasPrefix("HTTP/1.1 200 "), "\(question): \(answer)")
                        #expect(answer.contains("bghost.error/1"), "\(question): \(answer)")
                    }
                    let after = await daemon.host.picture()
                    #expect(after == before, "\(route): \(after.difference(from: before))")
                }
                // A dry run: `serving` has another manifest on the disk.
                let dry = try Self.ask(path, "/v1/reload?dryRun=true", method: "POST")
                #expect(dry.hasPrefix("HTTP/1.1 200 ") && dry.contains("\"hourly\""), "\(dry)")
                let afterDry = await daemon.host.picture()
                #expect(afterDry == before, "dry run: \(afterDry.difference(from: before))")
                // A client that waits for a run that has not started, and disconnects.
                _ = try Self.ask(path, "/v1/requests/\(subjects.waiting.id)/run", leaves: true)
                #expect(await daemon.host.picture() == before)
            }
        }

        /// The read-only commands and their arguments.
        private static func commands(_ subjects: RouteSubjects) -> [String: [[String]]] {
            [
                "status": [[], ["late.task"], ["once"], ["--fleet"], ["--failing"]],
                "doctor": [[]],
                "health": [[]],
                "metrics": [[]],
                "wait ready": [[]],
                "why": [
                    ["gated"], ["hourly"], ["fail", "--at", "2h"], ["late.task"], ["paused"],
                    ["once"],
                    [subjects.waiting.id.description],
                ],
                "pending": [[], ["gated"]],
                "runs": [
                    [], ["fail"], ["--failed", "--since", "2h", "--text", "x"], ["--skipped"],
                    ["--by-day"], ["fail", "--by-day", "--since", "2d"],
                ],
                "show": [subjects.ended, subjects.active, subjects.each.saver].map {
                    [$0.id.description]
                },
                "logs": [
                    [], ["fail"], ["--since", "1h", "--until", "1s", "--text", "x", "-n", "5"],
                ],
                "dead": [[]],
                "checkpoints list": [[], ["--task", "step"], ["--plugin", "checkpoint"]],
                "throttle show": [[], ["fail"]],
                "uses show": [[], ["late.task"]],
                "pause": [["--list"]],
                "notify outbox": [[]],
                "transfers list": [[]],
                "transfers show": [[subjects.each.transfer.id.description], ["nosuch"]],
                "reload": [["--dry-run"]],
                "audit show": [[], ["--verb", "x", "--since", "2h"]],
                "audit verify": [[]],
                "changes": [[], ["--since", "2h"]],
                "alerts show": [[]],
                "fleet hosts": [[]],
                "fleet doctor": [[]],
            ]
        }

        /// Commands that call no daemon, or that change something.
        private static let others: Set<String> = [
            "run", "check", "plan", "replay", "version", "completion", "plugin check",
            "plugin inspect", "plugin install", "plugin keygen", "plugin list", "plugin new",
            "plugin pack", "plugin remove", "plugin run", "plugin sign", "plugin update",
            "plugin verify", "sdk",
            "trigger", "expire", "stop", "submit", "cancel", "redrive", "discard",
            "checkpoints delete", "throttle clear",
            "uses add", "uses clear", "drain", "resume", "disable", "enable", "backup",
            "restore",
            "simulate launch",
            "simulate expire", "simulate fact", "simulate clock", "notify test", "notify act",
            "alerts test",
            "transfers cancel", "transfers retry", "dashboard", "fleet drain", "fleet undrain",
        ]

        @Test(.timeLimit(.minutes(5)))
        func `No read-only command changes a later decision`() async throws {
            try await Self.serving { daemon, _, path, subjects in
                let commands = Self.commands(subjects)
                #expect(
                    Set(try await Self.allCommands()) == Self.others.union(commands.keys),
                    "a command is in neither list"
                )
                let before = await daemon.host.picture()
                for (command, questions) in commands {
                    for question in questions {
                        for form in [[], ["--json"]] {
                            let words = command.split(separator: " ").map(String.init)
                            let result = try await Command.runApart(
                                [Artifact.path("bghost")] + words + question + form
                                    + ["--control", path]
                            )
                            #expect(
                                !result.output.isEmpty || !result.error.isEmpty,
                                "\(command) \(question)"
                            )
                            #expect(result.exitCode != 64, "\(command) \(result.error)")
                        }
                    }
                    let after = await daemon.host.picture()
                    #expect(after == before, "\(command): \(after.difference(from: before))")
                }
            }
        }

        /// The commands of the program that have none below them.
        private static func allCommands() async throws -> [String] {
            let dump = try await Command.runApart([
                Artifact.path("bghost"), "--experimental-dump-help",
            ])
            let root = try #require(try JSONReader.parse(dump.output)["command"])
            var found: [String] = []
            var open = (root["subcommands"]?.array ?? []).map { ($0, "") }
            while let (command, parents) = open.popLast() {
                let name = parents + (command["commandName"]?.string ?? "")
                let below = command["subcommands"]?.array ?? []
                open += below.map { ($0, name + " ") }
                // The parser's own.
                if below.isEmpty, name != "help" { found.append(name) }
            }
            return found
        }

        // MARK: The daemon

        /// Serves a host that has a little of everything, with ``OneOfEach`` among it, with the library of
        /// one plugin put right where only a look at it could notice.
        static func serving(
            _ body: (RunningHost, ControlServer, String, RouteSubjects) async throws -> Void
        ) async throws {
            let folder = try TemporaryDirectory()
            var manifest = try TestManifest.misbehave(
                runtime: .seconds(600),
                overlap: .queue,
                slots: 4
            )
            try OneOfEach.define(in: &manifest)
            manifest.plugins.append(
                PluginDefinition(
                    name: "late",
                    library: folder.file("late.so"),
                    maxPending: PendingLimits(refresh: 10)
                )
            )
            manifest.tasks.append(try TestManifest.task("late.task", "late", "succeed", nil))
            manifest.tasks.append(try TestManifest.task("family.*", "late", "succeed", nil))
            var gated = try TestManifest.task("gated", "misbehave", "succeed", nil)
            gated.requirements = .network
            manifest.tasks.append(gated)
            var hourly = try TestManifest.task("hourly", "misbehave", "succeed", nil)
            hourly.schedule = TaskSchedule(times: .every(.seconds(3600)))
            manifest.tasks.append(hourly)
            var other = manifest
            other.tasks.removeAll { $0.identifier.description == "hourly" }
            if let index = other.plugins.firstIndex(where: { $0.name == "misbehave" }) {
                other.plugins[index].config = #"{"other": true}"#
            }
            let recorder = InputCount()
            // Changes that the machine makes meanwhile are not caused by a question.
            let facts = ManualFacts(.network)
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: {
                    OneOfEach.adjust(&$0)
                    $0.recorder = recorder
                    $0.rereadManifest = { [other] in
                        RereadManifest(manifest: other, diagnostics: [])
                    }
                    $0.factSources = { _ in [facts] }
                    $0.watchesClockSteps = false
                    $0.timeouts.look = 3_600_000_000_000
                    $0.timeouts.settle = 3_600_000_000_000
                },
                { daemon in
                    let host = daemon.host
                    let each = try await OneOfEach.begin(in: daemon)
                    _ = try await host.simulate(fact: "network=off")
                    _ = try await host.submit(Submission(task: "late.task"))
                    let waiting = try await host.submit(Submission(task: "gated"))
                    _ = try await host.submit(
                        Submission(
                            task: "family.one",
                            earliestBegin: WallClock.now + 3_600_000_000_000
                        )
                    )
                    let subjects = RouteSubjects(
                        ended: try await daemon.run("fail"),
                        active: try await daemon.begin("honour-cancel"),
                        waiting: waiting,
                        each: each
                    )
                    // Not the worker's end, nor the event of the file, is to come between two pictures.
                    await host.untilGone(subjects.ended.pid, of: "misbehave")
                    await host.untilChecked("late", isTouched: false)
                    try folder.write(try File.read(try Fixture.library("good")), to: "late.so")
                    await host.untilChecked("late", isTouched: true)
                    let path = folder.file("control.sock")
                    let (ready, isReady) = AsyncStream<Void>.makeStream()
                    let server = ControlServer(
                        host: host,
                        notifications: host,
                        socketPath: path,
                        onReady: { isReady.finish() }
                    )
                    let serving = Task { try await server.run() }
                    for await _ in ready {}
                    defer { serving.cancel() }
                    let inputs = recorder.count
                    try await body(daemon, server, path, subjects)
                    #expect(recorder.count == inputs)
                    // To ask for a run is no question, and looks at the library.
                    #expect(try await daemon.run("late.task").outcome == .succeeded)
                    #expect(recorder.count > inputs)
                    _ = await host.stop(run: subjects.active.id)
                }
            )
        }

        /// Counts what happened to the scheduler.
        private final class InputCount: DecisionRecorder {
            private let inputs = Mutex(0)

            var count: Int { inputs.withLock { $0 } }

            func begin(_ settings: Scheduler.Settings) {}

            func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect]) {
                self.inputs.withLock { $0 += inputs.count }
            }
        }

        /// Asks over the socket, and returns what comes: all of it, or of an answer that does not end
        /// by itself the beginning.
        private static func ask(
            _ path: String,
            _ question: String,
            method: String = "GET",
            leaves: Bool = false
        ) throws -> String {
            let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(fd) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let isOpen = withUnsafePointer(to: address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isOpen)
            let text =
                "\(method) \(question) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            try #require(send(fd, text, text.utf8.count, Int32(MSG_NOSIGNAL)) > 0)
            guard !leaves else { return "" }
            let isEndless = question.contains("follow=true")
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while !(isEndless && bytes.contains(UInt8(ascii: "{"))) {
                let count = recv(fd, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// The daemon's state that determines its later decisions, as text.
struct Picture: Equatable, Sendable {
    var parts: [String]

    func difference(from other: Picture) -> [String] {
        zip(parts, other.parts).filter { $0 != $1 }.map { "\($1) became \($0)" }
    }
}

extension Host {
    /// The scheduler with its gates, dates and history; when each plugin's files are looked at, and how
    /// they stood; what is armed and watched; what has been logged.
    func picture() async -> Picture {
        var parts = await transferPicture()
        var state = ""
        dump(owners.dispatcher.scheduler, to: &state)
        dump(owners.registry.crashes, to: &state)
        dump(owners.notifications.outbox, to: &state)
        dump(owners.alerts.monitor.table, to: &state)
        dump(owners.alerts.monitor.watch, to: &state)
        dump(owners.commits.checkpoints, to: &state)
        parts.append("the fleet's renewal is under way: \(owners.fleet.isRenewing)")
        // The monitor looks at its alerts as time passes.
        parts += state.split(separator: "\n").map(String.init)
            .filter { !$0.contains("alertsVisited: ") }
        for plugin in owners.plugins.all {
            parts.append(
                "\(plugin.name): files \(plugin.files), candidate \(plugin.candidate as Any), "
                    + "refused \(plugin.refused as Any), check \(plugin.checkAt) \(plugin.checksFrom) "
                    + "\(plugin.checkPause) \(plugin.isBeingChecked), problem "
                    + "\(plugin.problem?.message ?? ""), change \(plugin.change ?? "")"
            )
        }
        parts.append("date \(owners.dates.armedDate as Any), facts \(owners.facts.armed)")
        // Questions are not logged, nor is what they find.
        let entries = services.log.entries(matching: LogFilter(), limit: 8192)
        parts.append("log: \(entries.map(\.event))")
        return Picture(parts: parts)
    }
}

extension Host {
    /// Waits until the daemon has handled the end of a worker.
    func untilGone(_ worker: Int32?, of plugin: String) async {
        while let slot = owners.plugins[plugin],
            slot.executors.values.contains(where: { $0.pid == worker })
        {
            await Task.yield()
        }
    }

    /// Waits until a plugin that cannot be used has a date for its check, or the event of a change of
    /// its files was handled.
    func untilChecked(_ plugin: String, isTouched: Bool) async {
        while let slot = owners.plugins[plugin], (slot.checkPause == 0) != isTouched {
            await Task.yield()
        }
    }
}
