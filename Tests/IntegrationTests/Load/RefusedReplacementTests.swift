// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Libraries that are replaced by files that the daemon refuses, or at a bad time.
    @Suite struct RefusedReplacementTests {
        private let folder: TemporaryDirectory
        private let library: String

        init() throws {
            folder = try TemporaryDirectory()
            library = folder.file("plugin.so")
        }

        private func put(_ bytes: [UInt8], mode: mode_t = 0o755) throws {
            try folder.write(bytes, to: "new.so")
            try #require(chmod(folder.file("new.so"), mode) == 0)
            try #require(rename(folder.file("new.so"), library) == 0)
        }

        private func bytes(_ fixture: String, padding: Int = 0) throws -> [UInt8] {
            try File.read(try Fixture.library(fixture)) + [UInt8](repeating: 0, count: padding)
        }

        /// Looks that nothing brings about would come after the end of the test.
        private static func onlyEvents(_ configuration: inout HostConfiguration) {
            configuration.timeouts.look = 3_600_000_000_000
            configuration.timeouts.inspect = 10_000_000
        }

        private func events(_ daemon: RunningHost, _ event: String) -> [LogEntry] {
            daemon.log.entries(matching: LogFilter(plugin: "changing"), limit: 8192)
                .filter { $0.event == event }
        }

        private func expectRun(_ request: PendingRequest, _ daemon: RunningHost) async throws {
            let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
            #expect(run.outcome == .succeeded && run.attempt == 1)
        }

        enum Replacement: CaseIterable, Sendable {
            case text, withoutHandler, writable

            var reason: String {
                switch self {
                case .text: "is not an ELF file"
                case .withoutHandler: "no handler `succeed`"
                case .writable: "can be written by everybody"
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Replacement.allCases)
        func `Requests wait while a replacement is refused, and no worker loads it`(
            replacement: Replacement
        ) async throws {
            try put(try bytes("misbehave"))
            let manifest = try TestManifest.plugin("changing", library: library)
            try await withDaemon(manifest, adjust: Self.onlyEvents) { daemon in
                let before = try await daemon.run("task")
                switch replacement {
                case .text: try put(Array("this is no library".utf8))
                case .withoutHandler: try put(try bytes("mark"))
                case .writable: try put(try bytes("misbehave", padding: 1), mode: 0o777)
                }
                let line = try await daemon.line { $0.event == "plugin.unusable" }
                #expect(line.message.contains("was replaced and cannot be taken up: "))
                #expect(line.message.contains(replacement.reason))
                let next = Submission(task: "task", onConflict: .append)
                let requests = [
                    try await daemon.host.submit(next), try await daemon.host.submit(next),
                ]
                #expect(requests[0].waitingFor.first == line.message)
                let status = await daemon.host.status()
                let plugin = try #require(status.plugins.first { $0.name == "changing" })
                #expect(plugin.problem == line.message && plugin.change == nil)
                #expect(plugin.workers.allSatisfy { $0 == before.pid })
                await #expect(throws: SubmitError.self) {
                    try await daemon.host.trigger(Submission(task: "task"))
                }
                // Its permissions alone can be what is wrong, which its time and size do not show.
                if replacement == .writable {
                    try #require(chmod(library, 0o755) == 0)
                } else {
                    try put(try bytes("misbehave", padding: 2))
                }
                try await daemon.line { $0.event == "plugin.replaced" }
                for request in requests { try await expectRun(request, daemon) }
                #expect(events(daemon, "plugin.load_failed").isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Requests wait until a needed library is back, and nothing is counted`() async throws {
            let flags = ["-Wl,-soname,libhelper.so"]
            let helper = try folder.write(
                try File.read(
                    try Fixture.library("helper", defines: ["HELPER_VALUE=42"], flags: flags)
                ),
                to: "libhelper.so"
            )
            let made = try Command.run([
                Toolchain.c, "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-D_GNU_SOURCE",
                "-I" + Fixture.include, PackageRoot.path + "/Tests/Fixtures/Plugins/needs-helper.c",
                "-o", library, "-L" + folder.path, "-lhelper", "-Wl,-rpath," + folder.path,
            ])
            try #require(made.exitCode == 0, "\(made.error)")
            let manifest = try TestManifest.plugin("changing", library: library)
            try await withDaemon(manifest, adjust: Self.onlyEvents) { daemon in
                #expect(try await daemon.run("task").outcome == .succeeded)
                try #require(rename(helper, folder.file("away")) == 0)
                let line = try await daemon.line { $0.event == "plugin.unusable" }
                #expect(line.message.contains("libhelper.so"))
                var requests: [PendingRequest] = []
                for _ in 0..<4 {
                    let next = Submission(task: "task", onConflict: .append)
                    requests.append(try await daemon.host.submit(next))
                }
                try #require(rename(folder.file("away"), helper) == 0)
                for request in requests { try await expectRun(request, daemon) }
                #expect(events(daemon, "plugin.load_failed").isEmpty)
                #expect(events(daemon, "plugin.quarantined").isEmpty)
            }
        }

        // MARK: The pause after a crash

        private func crashing(_ onChange: LibraryChange) throws -> Manifest {
            var manifest = try TestManifest.plugin(
                "changing",
                library: library,
                handler: "crash-in-start"
            )
            let index = try #require(manifest.plugins.firstIndex { $0.name == "changing" })
            manifest.plugins[index].writtenOnChange = onChange
            let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(200))
            manifest.tasks.append(try TestManifest.task("good", "changing", "succeed", limits))
            return manifest
        }

        /// A pause that outlasts the test.
        private static func longPause(_ configuration: inout HostConfiguration) {
            onlyEvents(&configuration)
            configuration.timeouts.crashes = CrashLoop.Limits()
            configuration.timeouts.crashes.pause = 3_600_000_000_000
        }

        @Test(.timeLimit(.minutes(5)))
        func `A library that is replaced in the pause after a crash is taken up`() async throws {
            try put(try bytes("misbehave"))
            try await withDaemon(try crashing(.reload), adjust: Self.longPause) { daemon in
                #expect(try await daemon.run("task").outcome == .crashed(.signalled(SIGSEGV)))
                try await daemon.line { $0.event == "plugin.paused" }
                let request = try await daemon.host.submit(Submission(task: "good"))
                try put(try bytes("misbehave", padding: 1))
                try await daemon.line { $0.event == "plugin.replaced" }
                try await expectRun(request, daemon)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The status shows a library that is replaced in the pause after a crash`()
            async throws
        {
            try put(try bytes("misbehave"))
            try await withDaemon(try crashing(.ask), adjust: Self.longPause) { daemon in
                #expect(try await daemon.run("task").outcome == .crashed(.signalled(SIGSEGV)))
                try await daemon.line { $0.event == "plugin.paused" }
                try put(try bytes("misbehave", padding: 1))
                let line = try await daemon.line { $0.event == "plugin.changed" }
                let status = await daemon.host.status()
                let plugin = try #require(status.plugins.first { $0.name == "changing" })
                #expect(plugin.change == line.message)
                #expect(plugin.problem?.contains("next worker start delayed") == true)
            }
        }
    }
}
