// SPDX-License-Identifier: Apache-2.0

import BghostCore
import BghostHost
import BghostTestSupport
import Glibc
import Testing

/// A plugin that cannot be used, and what the host says of it.
struct BadPlugin: Sendable, CustomTestStringConvertible {
    var name: String
    /// In the reason.
    var words: String
    var defines: [String] = []

    var testDescription: String { name }
}

extension Integration {
    /// Plugins that cannot be loaded.
    @Suite struct LoadTests {
        @Test(
            .timeLimit(.minutes(1)),
            arguments: [
                BadPlugin(name: "no-entry", words: "bghost_plugin_v1"),
                BadPlugin(name: "no-note", words: "note"),
                BadPlugin(name: "torn-note", words: "note"),
                BadPlugin(name: "two-notes", words: "note"),
                BadPlugin(name: "note-text", words: "note"),
                BadPlugin(name: "note-abi-2", words: "2.0"),
                BadPlugin(name: "entry-v2-only", words: "bghost_plugin_v2"),
                BadPlugin(name: "entry-is-data", words: "bghost_plugin_v1"),
            ]
        )
        func `A file that is no plugin is refused before any of it runs`(
            bad: BadPlugin
        ) async throws {
            let library = try Fixture.library(bad.name)
            let manifest = try TestManifest.plugin("bad", library: library)
            try await withDaemon(manifest) { daemon in
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                #expect(error?.code == .unavailable)
                #expect(error?.message.contains(bad.words) == true, "\(error?.message ?? "")")
                let status = await daemon.host.status()
                let plugin = try #require(status.plugins.first { $0.name == "bad" })
                #expect(plugin.problem == error?.message)
                #expect(plugin.workers.isEmpty)
                try await daemon.line { $0.event == "plugin.unusable" && $0.plugin == "bad" }
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
            }
        }

        @Test(
            .timeLimit(.minutes(1)),
            arguments: [
                BadPlugin(name: "abi-major-2", words: "2"),
                BadPlugin(name: "minor-too-new", words: "9"),
                BadPlugin(name: "lying-note", words: "test.somebody-else"),
                BadPlugin(name: "null-descriptor", words: "test"),
                BadPlugin(name: "null-start", words: "start"),
                BadPlugin(name: "null-task", words: "task"),
                BadPlugin(name: "null-tasks", words: "task"),
                BadPlugin(name: "null-strings", words: ""),
                BadPlugin(name: "wild-strings", words: ""),
                BadPlugin(name: "wild-tasks", words: ""),
                BadPlugin(name: "wild-pointer", words: ""),
                BadPlugin(name: "oversized-strings", words: ""),
                BadPlugin(name: "non-utf8-strings", words: "UTF-8"),
                BadPlugin(name: "size-zero", words: "size"),
                BadPlugin(name: "size-huge", words: "size"),
                BadPlugin(name: "task-size-zero", words: "size"),
                BadPlugin(name: "start-is-data", words: "start"),
                BadPlugin(name: "two-to-the-32-tasks", words: "4294967295"),
                BadPlugin(name: "zero-tasks", words: "0"),
                BadPlugin(name: "duplicate-handlers", words: "succeed"),
                BadPlugin(name: "unknown-flag", words: "flag"),
                BadPlugin(name: "unknown-task-flag", words: "flag"),
                BadPlugin(name: "guard-page", words: ""),
                BadPlugin(name: "fail-in-open", words: "-1234"),
            ]
        )
        func `A plugin whose table is wrong is refused by its worker`(
            bad: BadPlugin
        ) async throws {
            let library = try Fixture.library(bad.name, defines: bad.defines)
            try await withDaemon(try TestManifest.plugin("bad", library: library)) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .failed)
                #expect(record.message.contains(bad.words), "\(record.message)")
                let line = try await daemon.line { $0.event == "plugin.load_failed" }
                #expect(line.plugin == "bad")
                let said = daemon.log.entries(matching: LogFilter(plugin: "bad"), limit: 8192)
                #expect(!said.contains { $0.message.contains("close() came") })
            }
        }

        @Test func `A library with an undefined symbol is refused with the loader's words`()
            async throws
        {
            let library = try Fixture.library("undefined-symbol", flags: ["-Wl,-z,lazy"])
            try await withDaemon(try TestManifest.plugin("bad", library: library)) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .failed)
                #expect(record.message.contains("undefined symbol"), "\(record.message)")
            }
        }

        @Test(
            .timeLimit(.minutes(1)),
            arguments: [
                ("crash-in-constructor", ProcessEnd.signalled(11)),
                ("abort-in-constructor", .signalled(6)),
                ("exit-in-constructor", .exited(0)),
                ("crash-in-entry", .signalled(11)),
                ("crash-in-open", .signalled(11)),
            ]
        )
        func `A plugin that ends its worker while it is loaded is named`(
            name: String,
            how: ProcessEnd
        ) async throws {
            let library = try Fixture.library(name)
            try await withDaemon(try TestManifest.plugin("bad", library: library)) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .crashed(how))
                #expect(record.startedAt == nil)
                let line = try await daemon.line { $0.event == "plugin.load_failed" }
                #expect(line.plugin == "bad")
                #expect(line.message.contains(how.text))
            }
        }

        @Test(
            .timeLimit(.minutes(1)),
            arguments: ["hang-in-constructor", "hang-in-entry", "hang-in-open"]
        )
        func `A plugin that does not finish loading is killed`(name: String) async throws {
            let library = try Fixture.library(name)
            try await withDaemon(
                try TestManifest.plugin("bad", library: library),
                adjust: { $0.patience.start = 300_000_000 }
            ) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .killed(.startTimeout))
                #expect(record.startedAt == nil)
                let line = try await daemon.line { $0.event == "plugin.load_failed" }
                #expect(line.plugin == "bad")
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A plugin that fails to load three times is left alone until its file changes`()
            async throws
        {
            let folder = try TemporaryDirectory()
            try folder.write(
                try File.read(try Fixture.library("crash-in-constructor")),
                to: "plugin.so"
            )
            let manifest = try TestManifest.plugin("bad", library: "plugin.so")
            try await withDaemon(
                manifest,
                folder: folder,
                adjust: { $0.patience.loadBackoff = 20_000_000 }
            ) { daemon in
                for _ in 0..<3 {
                    // Submitted and not triggered: it waits for as long as the plugin is left alone.
                    let request = try await daemon.host.submit(Submission(task: "task"))
                    let record = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                    #expect(record.outcome == .crashed(.signalled(11)))
                }
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                #expect(error?.message.contains("3 times") == true)
                let status = await daemon.host.status()
                let problem = try #require(status.plugins.first { $0.name == "bad" }?.problem)
                #expect(problem == error?.message)

                let waiting = try await daemon.host.submit(Submission(task: "task"))
                #expect(waiting.waitingFor.contains(problem))
                try folder.write(try File.read(try Fixture.library("good")), to: "new.so")
                try #require(rename(folder.file("new.so"), folder.file("plugin.so")) == 0)
                #expect(try await daemon.run("task").outcome == .succeeded)
                // What had waited for it has its run too.
                let late = try #require(await daemon.host.waitForRun(ofRequest: waiting.id))
                #expect(late.outcome == .succeeded)
                let after = await daemon.host.status()
                #expect(after.plugins.first { $0.name == "bad" }?.problem == nil)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A plugin that is absent can be put there later`() async throws {
            let folder = try TemporaryDirectory()
            let manifest = try TestManifest.plugin("late", library: "plugin.so")
            try await withDaemon(manifest, folder: folder) { daemon in
                let error = await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                #expect(error?.message.contains("plugin.so") == true)
                try folder.write(try File.read(try Fixture.library("good")), to: "plugin.so")
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `What a plugin prints while it is loaded reaches the log and not the protocol`()
            async throws
        {
            let library = try Fixture.library("noise-in-constructor")
            try await withDaemon(try TestManifest.plugin("noise", library: library)) { daemon in
                #expect(try await daemon.run("task").outcome == .succeeded)
                let out = try await daemon.line("noise on stdout")
                #expect(out.source == .stdout && out.plugin == "noise")
                let error = try await daemon.line("noise on stderr")
                #expect(error.source == .stderr && error.plugin == "noise")
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `A handler that the plugin does not have is named with those it has`() async throws {
            let manifest = try TestManifest.plugin(
                "good",
                library: try Fixture.library("good"),
                handler: "sucseed"
            )
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .failed)
                #expect(
                    record.message.contains("`sucseed`") && record.message.contains("`succeed`")
                )
            }
        }

        @Test(.timeLimit(.minutes(1)), arguments: ["appended-fields", "two-tables"])
        func `A plugin that is only unusual is used`(name: String) async throws {
            let library = try Fixture.library(name)
            try await withDaemon(try TestManifest.plugin("later", library: library)) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .succeeded)
            }
        }
    }
}
