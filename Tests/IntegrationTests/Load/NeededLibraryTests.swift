// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

extension Integration {
    /// Libraries that a plugin needs: they are its code as much as its own file is.
    @Suite struct NeededLibraryTests {
        private let folder: TemporaryDirectory
        private let helper: String
        private let plugin: String

        init() throws {
            folder = try TemporaryDirectory()
            helper = try folder.write(try File.read(try Self.helper(42)), to: "libhelper.so")
            let source = PackageRoot.path + "/Tests/Fixtures/Plugins/needs-helper.c"
            plugin = folder.file("plugin.so")
            // The path of the folder is another one each time, so it is made here and not kept.
            let made = try Command.run([
                Toolchain.c, "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-D_GNU_SOURCE",
                "-I" + Fixture.include, source, "-o", plugin, "-L" + folder.path, "-lhelper",
                "-Wl,-rpath," + folder.path,
            ])
            try #require(made.exitCode == 0, "\(made.error)")
        }

        private static func helper(_ value: Int) throws -> String {
            try Fixture.library(
                "helper",
                defines: ["HELPER_VALUE=\(value)"],
                flags: ["-Wl,-soname,libhelper.so"]
            )
        }

        private func manifest(
            _ isolation: Isolation = .worker,
            sha256: String? = nil,
            libraries: [String: String] = [:]
        ) throws -> Manifest {
            var manifest = try TestManifest.plugin("needy", library: plugin)
            for index in manifest.plugins.indices where manifest.plugins[index].name == "needy" {
                manifest.plugins[index].sha256 = sha256
                manifest.plugins[index].libraries = libraries
                manifest.plugins[index].isolation = isolation
            }
            return manifest
        }

        private func problem(_ daemon: RunningHost) async throws -> String {
            let status = await daemon.host.status()
            return try #require(status.plugins.first { $0.name == "needy" }).problem ?? ""
        }

        @Test(.timeLimit(.minutes(5)))
        func `A needed library that everybody can change is refused until they cannot`()
            async throws
        {
            try #require(chmod(helper, 0o666) == 0)
            try await withDaemon(try manifest()) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                let problem = try await problem(daemon)
                #expect(
                    problem.hasPrefix("\(plugin) needs \(helper), and \(helper) can be written by")
                )
                try #require(chmod(helper, 0o644) == 0)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A pinned plugin wants the libraries pinned that it needs`() async throws {
            let sum = try HeldLibrary(path: plugin).sha256
            let sumOfHelper = try HeldLibrary(path: helper).sha256
            try await withDaemon(try manifest(sha256: sum)) { daemon in
                let problem = try await problem(daemon)
                #expect(
                    problem.contains("the plugin is pinned, and \(helper), which it needs, is not")
                )
                #expect(
                    problem.contains(
                        #""libraries": {"libhelper.so": {"sha256": "\#(sumOfHelper)"}}"#
                    )
                )
            }
            let wrong = String(repeating: "0", count: 64)
            try await withDaemon(
                try manifest(sha256: sum, libraries: ["libhelper.so": wrong])
            ) { daemon in
                let problem = try await problem(daemon)
                #expect(problem.contains("\(helper) is not the library that the manifest pins"))
                #expect(problem.contains("its SHA-256 is \(sumOfHelper)"))
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `A pinned library is the one that runs, whatever becomes of the file`(
            isolation: Isolation
        ) async throws {
            let manifest = try manifest(
                isolation,
                sha256: try HeldLibrary(path: plugin).sha256,
                libraries: ["libhelper.so": try HeldLibrary(path: helper).sha256]
            )
            try await withDaemon(manifest) { daemon in
                // In its place, so that its inode stays.
                try File.write(try File.read(try Self.helper(1)), to: helper)
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }
    }
}
