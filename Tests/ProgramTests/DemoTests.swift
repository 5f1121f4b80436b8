// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// What `make demo` runs, with the programs of this build.
@Suite(.ownThreads) struct DemoTests {
    /// A demo on ports of its own, whose stdout is read as lines too.
    private static func start(
        _ folder: TemporaryDirectory,
        port: Int
    ) throws -> RunningProgram {
        let sample = PackageRoot.path + "/Config"
        let manifest = String(decoding: try File.read(sample + "/demo.json"), as: UTF8.self)
            .replacing("8653", with: "\(port)")
        #expect(try Command.run(["cp", "-r", sample + "/spool", folder.path]).exitCode == 0)
        return try RunningProgram(
            command: [
                "sh", "-c", #"exec "$0" "$@" >&2"#, Artifact.path("stormy-station"), "demo",
                "--bghost", Artifact.path("bghost"), "--config",
                try folder.write(manifest, to: "demo.json"), "--port", "\(port)",
            ],
            environment: ["TMPDIR=\(folder.path)"]
        )
    }

    private static func states(_ folder: TemporaryDirectory) throws -> [String] {
        try File.list(folder.path).filter { $0.hasPrefix("stormy-") }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM, SIGHUP])
    func `The demo serves the dashboard until it is stopped, and leaves nothing`(
        by signal: Int32
    ) throws {
        let folder = try TemporaryDirectory()
        let program = try Self.start(folder, port: try Loopback.freePort())
        let link = try #require(
            program.line(containing: "  http://127.0.0.1:"),
            "\(program.lines)"
        )
        let port = try #require(
            link.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) }
        )
        try #require(program.line(containing: "Ctrl-C ends the daemon") != nil)
        let answer = try Loopback.ask(port, "GET", "/", ["Host: 127.0.0.1:\(port)"])
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")

        // The commands that it prints work as they are printed.
        let state = try #require(try Self.states(folder).first)
        let export = try #require(program.line(containing: "  export PATH="))
        #expect(export.contains("/\(state)/control.sock"))
        func shell(_ command: String) throws -> Command.Result {
            try Command.run(["sh", "-c", "\(export)\n\(command)"])
        }
        let run = try shell("bghost trigger com.example.demo.minutely --wait")
        #expect(run.exitCode == 0, "\(run)")
        let paused = try shell("bghost why com.example.demo.paused")
        #expect(paused.output.contains("to show a paused task"), "\(paused)")
        let vpn = try shell("bghost why com.example.demo.vpn")
        #expect(vpn.output.contains("vpn"), "\(vpn)")
        let failed = try shell("bghost trigger com.example.demo.dead --wait --json")
        #expect(failed.exitCode == 1, "\(failed)")
        for line in program.lines where line.contains("  bghost ") && line.contains("demo.") {
            let command = line[try #require(line.firstRange(of: "bghost ")).lowerBound...]
            #expect(try shell("\(command) --help").exitCode == 0, "\(command)")
        }

        let processes = EndingProcesses(descendants(of: program.pid))
        #expect(!processes.isEmpty)
        program.signal(signal)
        #expect(program.end() == 0)
        program.readAll()
        #expect(program.lines.last?.contains("its files are removed") == true, "\(program.lines)")
        #expect(processes.haveEnded())
        #expect(try Self.states(folder) == [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `The manifest of the demo passes the check`() throws {
        let result = try Command.run([
            Artifact.path("bghost"), "check", "--config", PackageRoot.path + "/Config/demo.json",
        ])
        #expect(result.exitCode == 0, "\(result.output)")
    }
}
