// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// Files of a manifest that are no ordinary files.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct OddManifestFileTests {
    private let folder: TemporaryDirectory
    private let manifest: String

    init() throws {
        folder = try TemporaryDirectory()
        manifest = try folder.write(#"{"version": 1}"#, to: "tasks.json")
    }

    private func check() throws -> Command.Result {
        try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
    }

    @Test func `Drop-ins behind a link that leads nowhere are an error, and not none`() throws {
        try #require(symlink("nowhere", folder.file("tasks.d")) == 0)
        let result = try check()
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.output.contains("it is a link that leads nowhere"), "\(result)")
        try #require(mkdir(folder.file("nowhere"), 0o755) == 0)
        #expect(try check().exitCode == 0)
    }

    @Test func `A FIFO among the drop-ins is named as one`() throws {
        try #require(mkdir(folder.file("tasks.d"), 0o755) == 0)
        try #require(mkfifo(folder.file("tasks.d/x.json"), 0o644) == 0)
        let result = try check()
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.output.contains("it is a FIFO or a device, not a file"), "\(result)")
    }

    @Test func `A drop-in whose name is not UTF-8 is named as one`() throws {
        try #require(mkdir(folder.file("tasks.d"), 0o755) == 0)
        let path = (folder.path + "/tasks.d/").utf8.map(CChar.init(bitPattern:))
        let fd = Glibc.open(path + [-1, -2, 46, 106, 115, 111, 110, 0], O_WRONLY | O_CREAT, 0o644)
        try #require(fd >= 0)
        close(fd)
        let result = try check()
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.output.contains("its name is not UTF-8"), "\(result)")
    }

    @Test func `A secret from a FIFO is refused as one`() throws {
        try #require(mkfifo(folder.file("fifo"), 0o600) == 0)
        try folder.write(
            """
            {"version": 1,
             "plugins": {"p": {"library": "\(try Fixture.library("good"))",
                               "config": {"key": "${file:fifo}"}}},
             "tasks": {"t": {"plugin": "p", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let result = try check()
        #expect(result.exitCode == 78, "\(result)")
        #expect(result.output.contains("it is a FIFO or a device, not a file"), "\(result)")
    }
}
