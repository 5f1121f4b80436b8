// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Files that take long to look at hold up nothing but the plugins that they are of.
    @Suite struct InspectionTests {
        private static let runtime: Duration = .milliseconds(500)
        private static let grace: Duration = .milliseconds(100)

        private let folder: TemporaryDirectory

        init() throws { folder = try TemporaryDirectory() }

        /// A run that has to be killed while plugins are inspected.
        private func expectKillInTime(
            _ manifest: Manifest,
            _ begin: () throws -> Void,
            _ inspections: [String]
        ) async throws -> [Result<PendingRequest, SubmitError>] {
            var answers: [Result<PendingRequest, SubmitError>] = []
            try await withDaemon(manifest) { daemon in
                let run = try await daemon.begin("ignore-cancel")
                try begin()
                let host = daemon.host
                answers = try await withThrowingTaskGroup { group in
                    for task in inspections {
                        group.addTask {
                            do throws(SubmitError) {
                                return Result<PendingRequest, SubmitError>.success(
                                    try await host.trigger(Submission(task: task))
                                )
                            } catch {
                                return .failure(error)
                            }
                        }
                    }
                    let end = try await daemon.end(of: run)
                    #expect(end.outcome == .killed(.graceExceeded))
                    let duration = try #require(end.duration)
                    // SECURITY.md: its runtime, its grace and one second.
                    #expect(duration < Self.runtime + Self.grace + .seconds(1), "\(duration)")
                    var all: [Result<PendingRequest, SubmitError>] = []
                    for try await answer in group { all.append(answer) }
                    return all
                }
            }
            return answers
        }

        private func manifest(
            plugins: [(name: String, library: String, sha256: String?)]
        ) throws -> Manifest {
            var manifest = try TestManifest.misbehave(runtime: Self.runtime, grace: Self.grace)
            for plugin in plugins {
                manifest.plugins.append(
                    PluginDefinition(
                        name: plugin.name,
                        library: plugin.library,
                        sha256: plugin.sha256
                    )
                )
                manifest.tasks.append(
                    try TestManifest.task(plugin.name, plugin.name, "succeed", nil)
                )
            }
            return manifest
        }

        @Test(.timeLimit(.minutes(10)))
        func `The host enforces limits while it hashes large pinned files`() async throws {
            let names = (0..<6).map { "large\($0)" }
            let pin = String(repeating: "0", count: 64)
            let manifest = try manifest(
                plugins: names.map { ($0, folder.file($0 + ".so"), pin) }
            )
            let answers = try await expectKillInTime(
                manifest,
                {
                    for name in names {
                        // Sparse: all that it costs is to be looked at.
                        let path = try folder.write([], to: name + ".so")
                        try #require(truncate(path, 256 << 20) == 0)
                    }
                },
                names
            )
            #expect(answers.count == names.count)
            for answer in answers {
                guard case .failure(let error) = answer else {
                    Issue.record("a file that is not the pinned one was taken")
                    continue
                }
                #expect(error.message.contains("is not the file that the manifest pins"))
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `The host enforces limits while it inspects large libraries`() async throws {
            let many = try Fixture.library("many-symbols")
            let names = (0..<20).map { "libmany\($0).so" }
            for name in names { try #require(symlink(many, folder.file(name)) == 0) }
            let library = folder.file("heavy.so")
            let made = try Command.run(
                [
                    Toolchain.c, "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-D_GNU_SOURCE",
                    "-I" + Fixture.include, PackageRoot.path + "/Tests/Fixtures/Plugins/good.c",
                    "-o", library + ".new", "-Wl,--no-as-needed", "-L" + folder.path,
                    "-Wl,-rpath," + folder.path,
                ] + names.map { "-l:" + $0 }
            )
            try #require(made.exitCode == 0, "\(made.error)")
            let answers = try await expectKillInTime(
                try manifest(plugins: [("heavy", library, nil)]),
                { try #require(rename(library + ".new", library) == 0) },
                ["heavy"]
            )
            #expect(answers.count == 1)
            guard case .success = answers.first else {
                Issue.record("it can be used: \(answers)")
                return
            }
        }
    }
}
