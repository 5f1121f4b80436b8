// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

extension Integration {
    /// Plugins whose file the manifest pins, or that others could change.
    @Suite struct PinTests {
        private let folder: TemporaryDirectory
        private let path: String

        init() throws {
            folder = try TemporaryDirectory()
            path = try folder.write(try File.read(try Fixture.library("good")), to: "plugin.so")
        }

        private func manifest(_ isolation: Isolation = .worker, sha256: String?) throws -> Manifest
        {
            var manifest = try TestManifest.plugin("pinned", library: path)
            for index in manifest.plugins.indices where manifest.plugins[index].name == "pinned" {
                manifest.plugins[index].sha256 = sha256
                manifest.plugins[index].isolation = isolation
            }
            return manifest
        }

        /// In its place, so that its inode stays.
        private func overwrite() throws {
            let fd = open(path, O_WRONLY | O_TRUNC)
            try #require(fd >= 0)
            defer { close(fd) }
            let bytes = try File.read(try Fixture.library("crash-in-constructor"))
            try #require(write(fd, bytes, bytes.count) == bytes.count)
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `The inspected library runs even if its file changes`(
            isolation: Isolation
        ) async throws {
            let sum = try HeldLibrary(path: path).sha256
            try await withDaemon(try manifest(isolation, sha256: sum)) { daemon in
                try overwrite()
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A file without the pinned hash is not loaded until it matches`()
            async throws
        {
            let good = try File.read(path)
            let sum = try HeldLibrary(path: path).sha256
            try overwrite()
            try await withDaemon(try manifest(sha256: sum)) { daemon in
                let status = await daemon.host.status()
                let problem = status.plugins.first { $0.name == "pinned" }?.problem
                #expect(problem?.contains("is not the file that the manifest pins") == true)
                #expect(problem?.contains("`sha256` says \(sum)") == true)
                #expect(try await daemon.run("witness.echo").outcome == .succeeded)
                try folder.write(good, to: "plugin.so")
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin that every user can change is not loaded without --dev`()
            async throws
        {
            chmod(path, 0o666)
            for allowsUntrustedFiles in [false, true] {
                let manifest = try manifest(sha256: nil)
                try await withDaemon(
                    manifest,
                    adjust: { $0.allowsUntrustedFiles = allowsUntrustedFiles }
                ) { daemon in
                    let status = await daemon.host.status()
                    #expect(status.allowsUntrustedFiles == allowsUntrustedFiles)
                    let problem = status.plugins.first { $0.name == "pinned" }?.problem
                    let refusal = problem ?? ""
                    #expect(
                        refusal.contains("can be written by everybody") == !allowsUntrustedFiles
                    )
                    guard allowsUntrustedFiles else { return }
                    let record = try await daemon.run("task")
                    #expect(record.outcome == .succeeded)
                }
            }
        }
    }
}
