// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// What `bghost plugin run` shows of the transfers that a handler begins.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct PluginRunTransferTests {
    private let folder: TemporaryDirectory
    private let server: FileServer

    init() throws {
        folder = try TemporaryDirectory()
        server = try FileServer(Array(repeating: 1, count: 1000), holdAt: 600)
        let library = try Fixture.library("transfer")
        _ = try Command.run(["cp", library, folder.file("libtransfer.so")])
        try folder.write(
            """
            {"version": 1,
             "plugins": {"mine": {"library": "./libtransfer.so",
                                  "permissions": {"network": ["\(server.grant)"]}}},
             "sessions": {"s": {"plugin": "mine", "handler": "wake"}},
             "tasks": {"await": {"plugin": "mine"}}}
            """,
            to: "tasks.dev.json"
        )
    }

    private func arguments(_ handler: String, _ url: String? = nil) -> [String] {
        ["plugin", "run", folder.path, handler, "--parameters"]
            + [#"{"url":"\#(url ?? server.url)","session":"s"}"#]
    }

    @Test func `Elsewhere than on a terminal, there is a line for each tenth and for the end`()
        throws
    {
        defer { server.close() }
        let program = try RunningProgram("bghost", arguments("await"))
        let half = try #require(program.line(containing: " 60 %"), "\(program.lines)")
        #expect(half == "download of \(server.url): ############........ 60 %, 600 B of 1000 B")
        server.release()
        let end = try #require(program.line(containing: " done"), "\(program.lines)")
        #expect(end == "+ download of \(server.url) done, 1000 B")
        #expect(program.end() == 0)
    }

    @Test func `On a terminal, the line is drawn again until the end`() throws {
        defer { server.close() }
        let terminal = try Pseudoterminal(
            command: [Artifact.path("bghost")] + arguments("await"),
            columns: 120,
            rows: 10
        )
        #expect(terminal.read(until: " 60 %, 600 B of 1000 B") != nil, "\(terminal.text)")
        server.release()
        let end = "✓\u{1B}[0m download of \(server.url) done, 1000 B"
        #expect(terminal.read(until: end) != nil, "\(terminal.text)")
        #expect(terminal.end() == 0)
        // The drawn line is erased before another is written.
        #expect(terminal.text.contains("\r\u{1B}[2K"))
    }

    @Test func `JSON has each change`() throws {
        defer { server.close() }
        server.release()
        let ran = try Command.run([Artifact.path("bghost")] + arguments("await") + ["--json"])
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        let lines = try ran.output.split(separator: "\n").map { try JSONReader.parse(String($0)) }
        let changes = lines.filter { $0["schema"]?.string == "bghost.transfer/1" }
            .compactMap { $0["transfer"] }
        #expect(changes.first?["state"]?.string != "done")
        #expect(changes.last?["state"]?.string == "done" && changes.last?["bytes"]?.text == "1000")
        #expect(lines.last?["schema"]?.string == "bghost.run/1")
    }

    @Test func `A transfer that is not over at the end of the run is named`() throws {
        defer { server.close() }
        let left = try Command.run([Artifact.path("bghost")] + arguments("begin"))
        #expect(left.exitCode == 0, "\(left.error)")
        let rest = "; a daemon goes on with it after the run, and here it ends\n"
        #expect(left.error.contains("download of \(server.url): "), "\(left.error)")
        #expect(left.error.hasSuffix(rest), "\(left.error)")
    }
}
