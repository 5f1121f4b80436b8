// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Testing

extension Integration {
    /// What the daemon reports about the sandbox of its workers.
    @Suite struct SandboxReportTests {
        @Test(.timeLimit(.minutes(5)))
        func `Status has the sandbox of a plugin's workers`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let before = await daemon.host.status().plugins
                #expect(before.allSatisfy { $0.sandbox.isEmpty })
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                let status = await daemon.host.status()
                let plugin = try #require(status.plugins.first { $0.name == "misbehave" })
                #expect(plugin.sandbox.map(\.layer) == SandboxLayer.allCases)
                #expect(plugin.sandbox.first { $0.layer == .seccomp }?.state == .holds)
                #expect(plugin.sandbox.first { $0.layer == .landlock }?.state == .holds)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An absent granted path is logged once`() async throws {
            var manifest = try TestManifest.plugin("p", library: try Fixture.library("misbehave"))
            let index = try #require(manifest.plugins.firstIndex { $0.name == "p" })
            manifest.plugins[index].permissions.read = ["/nowhere/at/all"]
            try await withDaemon(manifest) { daemon in
                let first = try await daemon.run("task")
                #expect(first.outcome == .succeeded)
                let line = try await daemon.line { $0.event == "sandbox.absent" }
                #expect(line.plugin == "p" && line.message.hasPrefix("/nowhere/at/all is granted"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `An in-process plugin cannot require sandbox layers`() async throws {
            var manifest = try TestManifest.misbehave(isolation: .inProcess)
            let index = try #require(manifest.plugins.firstIndex { $0.name == "misbehave" })
            manifest.plugins[index].require = [.seccomp, .user]
            try await withDaemon(manifest) { daemon in
                let plugins = await daemon.host.status().plugins
                let problem = plugins.first { $0.name == "misbehave" }?.problem
                #expect(
                    problem?.hasPrefix(
                        "the manifest requires user, seccomp, and there is no sandbox"
                    )
                        == true,
                    "\(problem ?? "")"
                )
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin is not loaded without its required sandbox layers`() async throws {
            var manifest = try TestManifest.plugin("p", library: try Fixture.library("misbehave"))
            let index = try #require(manifest.plugins.firstIndex { $0.name == "p" })
            manifest.plugins[index].require = [.network]
            // A contradiction: the machine's network has interfaces.
            manifest.plugins[index].permissions.directNetwork = true
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.run("task")
                #expect(run.outcome != .succeeded)
                #expect(
                    run.message.contains("do not hold here: network (waived)"),
                    "\(run.message)"
                )
            }
        }
    }
}
