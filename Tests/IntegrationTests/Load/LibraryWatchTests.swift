// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

extension Integration {
    /// Files of plugins that change while the daemon runs.
    ///
    /// In none of these tests anything is asked of the daemon that would have it look.
    @Suite struct LibraryWatchTests {
        private let folder: TemporaryDirectory
        private let library: String

        init() throws {
            folder = try TemporaryDirectory()
            library = folder.file("plugin.so")
        }

        private func manifest(_ change: (inout PluginDefinition) -> Void = { _ in }) throws
            -> Manifest
        {
            var manifest = try TestManifest.plugin("changing", library: library)
            for index in manifest.plugins.indices where manifest.plugins[index].name == "changing" {
                change(&manifest.plugins[index])
            }
            return manifest
        }

        /// A file of other bytes each time, which comes into its place in one step.
        private func install(_ fixture: String = "good", padding: Int = 0) throws {
            let bytes = try File.read(try Fixture.library(fixture))
            try folder.write(bytes + [UInt8](repeating: 0, count: padding), to: "new.so")
            try #require(rename(folder.file("new.so"), library) == 0)
        }

        /// Looks that nothing brings about would come after the end of the test.
        private static func onlyEvents(_ configuration: inout HostConfiguration) {
            configuration.timeouts.look = 3_600_000_000_000
            // `InspectionBudgetTests` has the pauses between inspections.
            configuration.timeouts.inspect = 10_000_000
        }

        private func status(_ daemon: RunningHost) async throws -> PluginStatus {
            try #require(await daemon.host.status().plugins.first { $0.name == "changing" })
        }

        private func expectRun(_ request: PendingRequest, _ daemon: RunningHost) async throws {
            let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
            #expect(run.outcome == .succeeded)
        }

        // MARK: A plugin that could not be used

        @Test(.timeLimit(.minutes(5)))
        func `A request runs when its missing library appears`() async throws {
            try await withDaemon(try manifest(), adjust: Self.onlyEvents) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                #expect(request.waitingFor.count == 1)
                try install()
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that is removed and restored is used again`() async throws {
            try install()
            try await withDaemon(
                try manifest(),
                adjust: {
                    Self.onlyEvents(&$0)
                    $0.timeouts.idle = 1_000_000
                },
                { daemon in
                    let first = try await daemon.host.submit(Submission(task: "task"))
                    try await expectRun(first, daemon)
                    try #require(unlink(library) == 0)
                    try await daemon.line { $0.event == "plugin.unusable" }
                    let second = try await daemon.host.submit(Submission(task: "task"))
                    #expect(second.waitingFor.first?.contains("is not there any more") == true)
                    try install()
                    try await expectRun(second, daemon)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library is found when its folder is recreated`() async throws {
            var manifest = try manifest()
            let inner = folder.file("a/b")
            for index in manifest.plugins.indices where manifest.plugins[index].name == "changing" {
                manifest.plugins[index].library = inner + "/plugin.so"
            }
            try await withDaemon(manifest, adjust: Self.onlyEvents) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                let made = try Command.run(["mkdir", "-p", folder.file("c/b")])
                try #require(made.exitCode == 0)
                try folder.write(try File.read(try Fixture.library("good")), to: "c/b/plugin.so")
                try #require(rename(folder.file("c"), folder.file("a")) == 0)
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A partial library is refused, and the complete one is used`() async throws {
            let bytes = try File.read(try Fixture.library("good"))
            try await withDaemon(try manifest(), adjust: Self.onlyEvents) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                let fd = open(library, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
                try #require(fd >= 0)
                defer { close(fd) }
                let half = bytes.count / 2
                try #require(write(fd, bytes, half) == half)
                try await daemon.line {
                    $0.event == "plugin.unusable" && $0.message.contains("is cut off")
                }
                let rest = Array(bytes[half...])
                try #require(write(fd, rest, rest.count) == rest.count)
                try #require(fchmod(fd, 0o700) == 0)
                try await expectRun(request, daemon)
                let failed = daemon.log.entries(matching: LogFilter(), limit: 8192)
                    .filter { $0.event == "plugin.load_failed" }
                #expect(failed.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that others could change is used once they cannot`() async throws {
            try install()
            try #require(chmod(library, 0o777) == 0)
            try await withDaemon(try manifest(), adjust: Self.onlyEvents) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                #expect(request.waitingFor.first?.contains("can be written by everybody") == true)
                try #require(chmod(library, 0o755) == 0)
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A change without an inotify event is found by polling`() async throws {
            // The folder that the link points to is another one, and nothing happens in the first.
            try #require(mkdir(folder.file("empty"), 0o755) == 0)
            try #require(symlink("empty", folder.file("current")) == 0)
            var manifest = try manifest()
            for index in manifest.plugins.indices where manifest.plugins[index].name == "changing" {
                manifest.plugins[index].library = folder.file("current/plugin.so")
            }
            try await withDaemon(
                manifest,
                adjust: {
                    $0.timeouts.look = 10_000_000
                    $0.timeouts.settle = 1_000_000
                },
                { daemon in
                    let request = try await daemon.host.submit(Submission(task: "task"))
                    try #require(mkdir(folder.file("full"), 0o755) == 0)
                    try folder.write(
                        try File.read(try Fixture.library("good")),
                        to: "full/plugin.so"
                    )
                    try #require(symlink("full", folder.file("next")) == 0)
                    try #require(rename(folder.file("next"), folder.file("current")) == 0)
                    try await expectRun(request, daemon)
                }
            )
        }

        // MARK: A plugin that can be used

        @Test(.timeLimit(.minutes(5)))
        func `Later runs use a replaced library`() async throws {
            try install("misbehave")
            try await withDaemon(try manifest(), adjust: Self.onlyEvents) { daemon in
                let before = try await daemon.run("task")
                try install("misbehave", padding: 1)
                try await daemon.line { $0.event == "plugin.replaced" && $0.plugin == "changing" }
                let after = try await daemon.run("task")
                #expect(after.outcome == .succeeded)
                #expect(after.pid != before.pid)
                #expect(try await status(daemon).change == nil)
            }
        }

        /// A release as it is deployed: a tree that comes into its place in one step.
        private func makeRelease(_ name: String, padding: Int) throws {
            for part in [name, "\(name)/app", "\(name)/app/lib"] {
                try #require(mkdir(folder.file(part), 0o755) == 0)
            }
            let bytes = try File.read(try Fixture.library("misbehave"))
            try folder.write(
                bytes + [UInt8](repeating: 0, count: padding),
                to: "\(name)/app/lib/plugin.so"
            )
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["current", "current/app"])
        func `A release whose folder above is exchanged is taken up`(moved: String) async throws {
            try makeRelease("current", padding: 0)
            try makeRelease("next", padding: 1)
            var manifest = try manifest()
            let path = folder.file("current/app/lib/plugin.so")
            for index in manifest.plugins.indices where manifest.plugins[index].name == "changing" {
                manifest.plugins[index].library = path
            }
            try await withDaemon(manifest, adjust: Self.onlyEvents) { daemon in
                let first = try await daemon.run("task")
                let new = moved.replacing("current", with: "next")
                try #require(rename(folder.file(moved), folder.file("old")) == 0)
                try #require(rename(folder.file(new), folder.file(moved)) == 0)
                try await daemon.line { $0.event == "plugin.replaced" && $0.plugin == "changing" }
                let second = try await daemon.run("task")
                #expect(second.outcome == .succeeded && second.pid != first.pid)
                // A file of the new tree is watched like one of the old.
                try install("misbehave", padding: 2)
                let isReplaced = rename(library, path) == 0
                try #require(isReplaced)
                var count = 0
                try await daemon.line { entry in
                    if entry.event == "plugin.replaced" { count += 1 }
                    return count == 2
                }
                try #require(rename(folder.file(moved), folder.file("gone")) == 0)
                try await daemon.line { $0.event == "plugin.unusable" }
                let request = try await daemon.host.submit(Submission(task: "task"))
                #expect(request.waitingFor.first?.contains("is not there any more") == true)
                try #require(rename(folder.file("gone"), folder.file(moved)) == 0)
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A pinned plugin keeps the held library when its replacement is refused`()
            async throws
        {
            try install("misbehave")
            let digest = try #require(LibraryDigest.sha256(path: library))
            let manifest = try manifest {
                $0.sha256 = digest
                $0.writtenOnChange = .reload
            }
            try await withDaemon(
                manifest,
                adjust: {
                    Self.onlyEvents(&$0)
                    // Each run has a worker of its own.
                    $0.timeouts.idle = 0
                },
                { daemon in
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    try install("misbehave", padding: 1)
                    let line = try await daemon.line { $0.event == "plugin.changed" }
                    #expect(line.message.contains("cannot be taken up, so what is loaded goes on"))
                    #expect(try await status(daemon).change == line.message)
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    // The right one is no change any more.
                    try install("misbehave")
                    try await daemon.line { $0.event == "plugin.replaced" }
                    #expect(try await status(daemon).change == nil)
                }
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin with onChange ask keeps the inspected library`() async throws {
            try install()
            let manifest = try manifest { $0.writtenOnChange = .ask }
            let reread = RereadManifest(manifest: manifest, diagnostics: [])
            try await withDaemon(
                manifest,
                adjust: {
                    Self.onlyEvents(&$0)
                    // Each run has a worker of its own.
                    $0.timeouts.idle = 0
                    $0.rereadManifest = { reread }
                },
                { daemon in
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    try install("crash-in-constructor")
                    let line = try await daemon.line { $0.event == "plugin.changed" }
                    #expect(line.message.contains("`bghost reload`"))
                    #expect(try await status(daemon).change == line.message)
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    // The daemon tries the operator's request, and refuses it.
                    await #expect(throws: OperatorRefusal.self) {
                        _ = try await daemon.host.reload()
                    }
                    #expect(try await daemon.run("task").outcome == .succeeded)
                    try install("good", padding: 1)
                    #expect(try await daemon.host.reload().plugins.changed == ["changing"])
                    #expect(try await status(daemon).change == nil)
                    #expect(try await daemon.run("task").outcome == .succeeded)
                }
            )
        }
    }
}
