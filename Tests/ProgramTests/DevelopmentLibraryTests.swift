// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost --dev --dev-library`: an author's build in the place of an installed plugin.
@Suite(.ownThreads) struct DevelopmentLibraryTests {
    private let folder: TemporaryDirectory
    private let source: String

    init() throws {
        folder = try TemporaryDirectory()
        let template = try File.read(PackageRoot.path + "/Templates/c/template_name.c")
        source = String(decoding: template, as: UTF8.self)
    }

    /// Builds the plugin whose result has a member of this name, in the place of the one before.
    private func build(_ name: String, result: String) throws -> String {
        let word = #"\"largest\""#
        try #require(source.contains(word))
        try folder.write(source.replacing(word, with: #"\""# + result + #"\""#), to: "plugin.c")
        let library = folder.file(name)
        let built = try Command.run([
            "cc", "-shared", "-fPIC", "-I" + PackageRoot.path + "/SDK/Sources/CBghost/include",
            "-o", library + ".new", folder.file("plugin.c"),
        ])
        try #require(built.exitCode == 0, "\(built.error)")
        try #require(rename(library + ".new", library) == 0)
        return library
    }

    private func manifest(_ library: String) throws -> String {
        let digest = try Command.run(["sha256sum", library]).output.prefix(64)
        return try folder.write(
            """
            {"version": 1, "host": {"slots": 2},
             "plugins": {"numbers": {"library": "\(library)", "sha256": "\(digest)"}},
             "tasks": {"primes": {"plugin": "numbers", "handler": "primes",
                                  "parameters": {"limit": 10}}}}
            """,
            to: "tasks.json"
        )
    }

    private func expectRun(_ daemon: TestDaemon, result: String) throws {
        let ran = try daemon.command(["trigger", "primes", "--wait"])
        #expect(ran.exitCode == 0 && ran.output.contains(#""\#(result)":7"#), "\(ran)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A build takes the place of a pinned plugin, and so does each next one`() throws {
        let config = try manifest(build("installed.so", result: "installed"))
        let own = try build("own.so", result: "first")
        let options = ["--dev", "--dev-library", "numbers=" + own]
        let daemon = try TestDaemon(manifest: config, folder: folder, arguments: options)
        #expect(
            daemon.program.lines.contains {
                $0.contains("numbers is \(own), unsigned and unpinned")
            },
            "\(daemon.program.lines)"
        )
        try expectRun(daemon, result: "first")
        let status = try daemon.command(["status"])
        #expect(
            status.output.contains("and other libraries than the manifest's for numbers\n"),
            "\(status.output)"
        )
        _ = try build("own.so", result: "second")
        #expect(
            daemon.program.line(containing: "its library was replaced and taken up") != nil,
            "\(daemon.program.lines)"
        )
        try expectRun(daemon, result: "second")
        let reloaded = try daemon.command(["reload"])
        #expect(reloaded.exitCode == 0, "\(reloaded)")
        try expectRun(daemon, result: "second")
        #expect(daemon.stop() == 0)

        // Without the option, the same host has the installed plugin again, with its pin.
        let plain = try TestDaemon(manifest: config, folder: folder, arguments: ["--dev"])
        try expectRun(plain, result: "installed")
        #expect(plain.stop() == 0)
        try File.write(try File.read(own), to: folder.file("installed.so"))
        let check = try Command.run([Artifact.path("bghost"), "check", "--config", config])
        #expect(check.exitCode == 78 && check.output.contains("SHA-256"), "\(check.output)")
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (["--dev-library", "numbers=own.so"], "--dev-library needs --dev"),
            (["--dev", "--dev-library", "own.so"], "--dev-library is NAME=FILE, not own.so"),
            (["--dev", "--dev-library", "numbers="], "--dev-library is NAME=FILE"),
            (["--dev", "--dev-library", "number=own.so"], "did you mean `numbers`?"),
            (
                ["--dev", "--dev-library", "numbers=a.so", "--dev-library", "numbers=b.so"],
                "names numbers twice"
            ),
        ]
    )
    func `Wrong options are refused`(options: [String], told: String) throws {
        let config = try manifest(build("installed.so", result: "installed"))
        let refused = try Command.run(
            [Artifact.path("bghost"), "--config", config, "--state-dir", folder.file("state")]
                + options
        )
        #expect(refused.exitCode == 64 && refused.error.contains(told), "\(refused)")
    }
}
