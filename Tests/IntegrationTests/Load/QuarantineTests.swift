// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
@testable import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Plugins that crash over and over.
    @Suite struct QuarantineTests {
        /// A plugin of its own file, so that it can be another one later.
        private func manifest(_ folder: TemporaryDirectory, _ fixture: String) throws -> Manifest {
            try put(fixture, into: folder)
            var manifest = try TestManifest.plugin(
                "bad",
                library: "plugin.so",
                handler: "crash-in-start"
            )
            let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
            manifest.tasks.append(try TestManifest.task("good", "bad", "succeed", limits))
            return manifest
        }

        private func put(_ fixture: String, into folder: TemporaryDirectory) throws {
            try folder.write(try File.read(try Fixture.library(fixture)), to: "new.so")
            try #require(rename(folder.file("new.so"), folder.file("plugin.so")) == 0)
        }

        /// Makes it another library that does the same.
        private func change(_ folder: TemporaryDirectory) throws {
            try folder.write(try File.read(folder.file("plugin.so")) + [0], to: "new.so")
            try #require(rename(folder.file("new.so"), folder.file("plugin.so")) == 0)
        }

        /// Pauses that a test can wait for.
        private static func quick(_ configuration: inout HostConfiguration) {
            durable(&configuration)
            configuration.timeouts.crashes = CrashLoop.Limits()
            configuration.timeouts.crashes.pause = 10_000_000
        }

        private func plugin(_ daemon: RunningHost) async throws -> PluginStatus {
            try #require(await daemon.host.status().plugins.first { $0.name == "bad" })
        }

        /// Has it crash until it is not run any more.
        private func bring(_ daemon: RunningHost, intoQuarantineAfter crashes: Int) async throws {
            for _ in 0..<crashes {
                let record = try await daemon.run("task")
                #expect(record.outcome == .crashed(.signalled(SIGSEGV)))
            }
            try await daemon.line { $0.event == "plugin.quarantined" && $0.plugin == "bad" }
            while try await plugin(daemon).quarantine?.library.isEmpty != false {
                await Task.yield()
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `After a crash a plugin's requests wait and then start`() async throws {
            let folder = try TemporaryDirectory()
            try await withDaemon(
                try manifest(folder, "misbehave"),
                folder: folder,
                adjust: Self.quick
            ) { daemon in
                let crashed = try await daemon.run("task")
                #expect(crashed.outcome == .crashed(.signalled(SIGSEGV)))
                let paused = try await daemon.line { $0.event == "plugin.paused" }
                #expect(paused.plugin == "bad")
                #expect(
                    paused.message
                        == "its worker ended by itself (SIGSEGV); next worker start delayed 10 ms"
                )
                // The daemon refuses no request: it starts the run after the pause.
                let next = try await daemon.run("good")
                #expect(next.outcome == .succeeded)
                let ended = try #require(crashed.endedAt)
                #expect(try #require(next.startedAt) - ended >= 9_000_000)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The fifth crash quarantines, also over a restart`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
                let pauses = daemon.log.entries(matching: LogFilter(plugin: "bad"), limit: 8192)
                    .filter { $0.event == "plugin.paused" }.map { $0.message.suffix(5) }
                #expect(pauses == ["10 ms", "20 ms", "40 ms", "80 ms"])
            }
            for _ in 0..<2 {
                try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.trigger(Submission(task: "good"))
                    }
                    let message = error?.message ?? ""
                    #expect(
                        message
                            == "its worker ended by itself (SIGSEGV); 5 crashes in 10 min;"
                            + " quarantined until its library or bghost changes; fix it, then"
                            + " `bghost enable bad`"
                    )
                    let plugin = try await plugin(daemon)
                    #expect(plugin.problem == message)
                    let quarantine = try #require(plugin.quarantine)
                    #expect(quarantine.library.utf8.count == 64)
                    #expect(quarantine.reason.hasSuffix("5 crashes in 10 min"))
                    #expect(plugin.workers.isEmpty)
                    // New requests wait, and other plugins continue.
                    let waiting = try await daemon.host.submit(Submission(task: "good"))
                    #expect(waiting.waitingFor == [message])
                    #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An operator lifts the quarantine, also over a restart`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
                let waiting = try await daemon.host.submit(Submission(task: "good"))
                _ = try await daemon.host.enable(plugin: "bad")
                let record = try #require(await daemon.host.waitForRun(ofRequest: waiting.id))
                #expect(record.outcome == .succeeded)
                #expect(try await plugin(daemon).problem == nil)
                #expect(try await plugin(daemon).quarantine == nil)
                // It is as new: one crash is none too many.
                #expect(try await daemon.run("task").outcome == .crashed(.signalled(SIGSEGV)))
                #expect(try await daemon.run("good").outcome == .succeeded)
            }
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                let record = try await daemon.run("good")
                #expect(record.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [false, true])
        func `A quarantined plugin with another library is tried once`(afterARestart: Bool)
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
                // The same bytes with another date are the same library.
                try put("misbehave", into: folder)
                await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                if !afterARestart {
                    try change(folder)
                    try await bring(daemon, intoQuarantineAfter: 1)
                }
            }
            if afterARestart { try change(folder) }
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                if afterARestart {
                    try await daemon.line { $0.event == "plugin.retried" && $0.plugin == "bad" }
                    try await bring(daemon, intoQuarantineAfter: 1)
                }
                let quarantine = try #require(try await plugin(daemon).quarantine)
                #expect(quarantine.reason == "its worker ended by itself (SIGSEGV)")
                // A version that works is quarantined no more, whatever it does later.
                try change(folder)
                #expect(try await daemon.run("good").outcome == .succeeded)
                try await daemon.line { $0.event == "plugin.released" && $0.plugin == "bad" }
                #expect(try await daemon.run("task").outcome == .crashed(.signalled(SIGSEGV)))
                #expect(try await daemon.run("good").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that is taken away and put back stays quarantined`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
                let (library, away) = (folder.file("plugin.so"), folder.file("away.so"))
                for (from, to) in [(library, away), (away, library)] {
                    try #require(rename(from, to) == 0)
                    // The daemon inspects the library before it answers.
                    let error = await #expect(throws: SubmitError.self) {
                        try await daemon.host.trigger(Submission(task: "good"))
                    }
                    #expect(error?.message.contains("quarantined until its library") == true)
                    #expect(try await plugin(daemon).quarantine != nil)
                }
                try expectNoTrial(daemon)
                try change(folder)
                #expect(try await daemon.run("good").outcome == .succeeded)
            }
        }

        private func expectNoTrial(_ daemon: RunningHost) throws {
            let entries = daemon.log.entries(matching: LogFilter(plugin: "bad"), limit: 8192)
            #expect(!entries.contains { $0.event == "plugin.retried" })
        }

        @Test(.timeLimit(.minutes(5)))
        func `A quarantine that begins while a reload inspects the plugin holds after it`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
                // The reload had no reason to hash the library.
                await daemon.host.holdToQuarantine("bad", library: "")
                #expect(try await plugin(daemon).quarantine != nil)
                await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "good"))
                }
                try expectNoTrial(daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Another build of the host tries a quarantined plugin once`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            try await withDaemon(manifest, folder: folder, adjust: Self.quick) { daemon in
                try await bring(daemon, intoQuarantineAfter: 5)
            }
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: {
                    Self.quick(&$0)
                    $0.version = "99.0.0"
                },
                { daemon in
                    try await bring(daemon, intoQuarantineAfter: 1)
                    #expect(try await plugin(daemon).quarantine?.host.hasPrefix("99.0.0 ") == true)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A reload does not lift a quarantine`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try manifest(folder, "misbehave")
            let reread = RereadManifest(manifest: try changed(manifest), diagnostics: [])
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: {
                    Self.quick(&$0)
                    $0.rereadManifest = { reread }
                },
                { daemon in
                    try await bring(daemon, intoQuarantineAfter: 5)
                    #expect(try await daemon.host.reload().plugins.changed == ["bad"])
                    #expect(try await plugin(daemon).quarantine != nil)
                    await #expect(throws: SubmitError.self) {
                        try await daemon.host.trigger(Submission(task: "good"))
                    }
                    _ = try await daemon.host.enable(plugin: "bad")
                    #expect(try await daemon.run("good").outcome == .succeeded)
                }
            )
        }

        private func changed(_ manifest: Manifest) throws -> Manifest {
            var manifest = manifest
            let index = try #require(manifest.plugins.firstIndex { $0.name == "bad" })
            manifest.plugins[index].config = #"{"other":1}"#
            return manifest
        }

        @Test(.timeLimit(.minutes(5)))
        func `Malformed frames count as crashes, also of functions`() async throws {
            var manifest = try TestManifest.misbehave()
            manifest.functions.append(
                FunctionDefinition(
                    name: "abort",
                    library: "libc.so.6",
                    symbol: "abort",
                    signature: "void()"
                )
            )
            manifest.tasks.append(
                TaskDefinition(
                    identifier: try TestManifest.pattern("abort"),
                    handler: .function(name: "abort")
                )
            )
            try await withDaemon(manifest, adjust: Self.quick) { daemon in
                for _ in 0..<5 { _ = try await daemon.run("write-rubbish") }
                try await daemon.line {
                    $0.event == "plugin.quarantined" && $0.plugin == "misbehave"
                        && $0.message.hasPrefix("its worker broke the protocol: ")
                }
                for _ in 0..<5 { _ = try await daemon.run("abort") }
                try await daemon.line { $0.event == "plugin.quarantined" && $0.plugin == "abort" }
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that crashed the daemon is not loaded by the next daemon`() async throws {
            let folder = try TemporaryDirectory()
            let path = folder.path
            await #expect(processExitsWith: .signal(SIGSEGV)) {
                [path = path as String] in
                try await withDaemonInside(path) { daemon in _ = try await daemon.run("task") }
            }
            try await withDaemonInside(path) { daemon in
                let plugin = try await plugin(daemon)
                let reason = "bghost ended while it loaded `bad` into itself"
                #expect(plugin.quarantine?.reason == reason)
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
            // It is known from the store now.
            try await withDaemonInside(path) { daemon in
                let plugin = try await plugin(daemon)
                #expect(plugin.quarantine != nil)
            }
        }
    }
}

extension Host {
    /// Does what a reload does with the plugins that it takes up.
    fileprivate func holdToQuarantine(_ plugin: String, library sha256: String) {
        guard let slot = owners.plugins[plugin] else { return }
        owners.registry.holdToQuarantine(slot, library: sha256)
    }
}

/// A daemon on a folder of the test's that loads what crashes into itself.
private func withDaemonInside(
    _ path: String,
    _ body: (RunningHost) async throws -> Void
) async throws {
    let library = try Fixture.library("crash-in-constructor")
    var manifest = try TestManifest.plugin("bad", library: library)
    manifest.plugins[manifest.plugins.count - 1].isolation = .inProcess
    try await withDaemon(
        manifest,
        adjust: { configuration in
            durable(&configuration)
            configuration.stateDirectory = path + "/state"
        },
        body
    )
}
