// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Plugins while they are loaded.
    @Suite struct LoadTests {
        @Test(.timeLimit(.minutes(5)))
        func `A library with an undefined symbol is refused with the loader's words`()
            async throws
        {
            let library = try Fixture.library("undefined-symbol", flags: ["-Wl,-z,lazy"])
            try await withDaemon(try TestManifest.plugin("bad", library: library)) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .failed)
                #expect(record.message.hasPrefix("\(library): "), "\(record.message)")
                #expect(record.message.contains("undefined symbol: no_library_defines_this"))
                #expect(record.message.hasSuffix("shows all that it needs and does not find"))
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
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
                let advice = "Look at its constructors, bghost_plugin_v1() and open()"
                #expect(
                    line.message.hasPrefix(
                        "\(library): loading it ended its worker (\(how.text)). \(advice)"
                    ),
                    "\(line.message)"
                )
                #expect(record.message == line.message)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that fails to load three times waits until its file changes`()
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
                adjust: { $0.timeouts.loadBackoff = 20_000_000 }
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
                // The request that waited for the plugin runs too.
                let late = try #require(await daemon.host.waitForRun(ofRequest: waiting.id))
                #expect(late.outcome == .succeeded)
                let after = await daemon.host.status()
                #expect(after.plugins.first { $0.name == "bad" }?.problem == nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An absent plugin can be installed later`() async throws {
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

        @Test(.timeLimit(.minutes(5)))
        func `Output during a load goes to the log and not to the protocol`()
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

        @Test(.timeLimit(.minutes(5)))
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

        @Test(.timeLimit(.minutes(5)), arguments: ["appended-fields", "two-tables"])
        func `An unusual but valid plugin is used`(name: String) async throws {
            let library = try Fixture.library(name)
            try await withDaemon(try TestManifest.plugin("later", library: library)) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .succeeded)
            }
        }
    }
}

extension SeparateHosts {
    /// A plugin whose loading takes longer than the limit.
    @Suite struct LoadTimeTests {
        /// The limit holds for all plugins, so it is more than others need on a busy machine.
        private static let limit: UInt64 = 4_000_000_000

        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["hang-in-constructor", "hang-in-entry", "hang-in-open"]
        )
        func `A plugin that does not finish loading is killed`(name: String) async {
            await #expect(processExitsWith: .success) { [name] in
                let library = try Fixture.library(name)
                try await withDaemon(
                    try TestManifest.plugin("bad", library: library),
                    adjust: { $0.timeouts.start = Self.limit }
                ) { daemon in
                    let record = try await daemon.runBesideOthers("task")
                    #expect(record.outcome == .killed(.startTimeout))
                    #expect(record.startedAt == nil)
                    let line = try await daemon.line { $0.event == "plugin.load_failed" }
                    #expect(line.plugin == "bad")
                    let what =
                        "\(library): loading it did not come back within 4.00 s. Look at its con"
                    #expect(line.message.hasPrefix(what), "\(line.message)")
                    #expect(record.message == line.message)
                }
            }
        }
    }
}
