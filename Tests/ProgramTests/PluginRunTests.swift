// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost plugin run`, with handlers that do well and badly.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct PluginRunTests {
    private let library: String

    init() throws { library = try Fixture.library("misbehave") }

    @Test(
        arguments: [
            ("echo", ["--parameters", #"{"n":[1,2]}"#], 0, "succeeded"),
            ("fail", [], 1, "failed"),
            ("fail-finally", [], 1, "failed"),
            ("honour-cancel", ["--expire-after", "100ms"], 75, "cancelledClean"),
            (
                "ignore-cancel", ["--expire-after", "100ms", "--grace", "200ms"], 1,
                "killed(graceExceeded)"
            ),
            ("crash-in-start", [], 1, "crashed(SIGSEGV)"),
            ("exit-in-start", [], 1, "crashed(exit "),
        ]
    )
    func `The exit status says how the run ended`(
        handler: String,
        options: [String],
        status: Int32,
        outcome: String
    ) throws {
        let ran = try run([library, handler, "--json"] + options)
        #expect(ran.exitCode == status, "\(ran.output)\(ran.error)")
        let lines = try ran.output.split(separator: "\n").map { try JSONReader.parse(String($0)) }
        let last = try #require(lines.last)
        #expect(last["schema"]?.string == "bghost.run/1")
        #expect(last["run"]?["outcome"]?.string?.hasPrefix(outcome) == true, "\(ran.output)")
        if handler == "echo" { #expect(last["run"]?["result"]?["n"]?.text == "[1,2]") }
        // Each line before it is of the log or of the progress.
        let schemas = Set(lines.dropLast().map { $0["schema"]?.string })
        #expect(schemas.isSubset(of: ["bghost.log/1", "bghost.progress/1"]))
        #expect(ran.error == "")
    }

    @Test func `For people, the result is on stdout and the rest on stderr`() throws {
        let echoed = try run([library, "echo", "--parameters", #"{"n":1}"#])
        #expect(echoed.output.contains("echo succeeded in "))
        #expect(echoed.output.hasSuffix("  {\"n\":1}\n"), "\(echoed.output)")
        // Nothing of it is coloured or drawn again: it is no terminal.
        #expect(!(echoed.output + echoed.error).contains("\u{1B}"))
        let printed = try run([library, "stdout-lines"])
        #expect(printed.exitCode == 0 && printed.error.contains(" stdout "), "\(printed.error)")
        let progress = try run([library, "progress"])
        #expect(progress.exitCode == 0 && progress.error.contains(" %\n"), "\(progress.error)")
        let crashed = try run([library, "crash-in-start"])
        #expect(crashed.error.contains("crash_in_start"), "\(crashed.error)")
    }

    @Test func `Ctrl-C asks the run to stop`() throws {
        let template = PackageRoot.path + "/Templates/c/template_name.c"
        let program = try RunningProgram(
            "bghost",
            ["plugin", "run", try Fixture.library(source: template)]
                + ["--parameters", #"{"limit":100000000}"#]
        )
        try #require(program.line(containing: "counting") != nil, "\(program.lines)")
        program.signal(SIGINT)
        #expect(program.line(containing: "asked to stop") != nil, "\(program.lines)")
        #expect(program.end() == 130)
    }

    @Test(arguments: [SIGHUP, SIGTERM])
    func `A closed terminal stops the run, and its folder is removed`(signal: Int32) throws {
        let template = PackageRoot.path + "/Templates/c/template_name.c"
        let program = try RunningProgram(
            "bghost",
            ["plugin", "run", try Fixture.library(source: template)]
                + ["--parameters", #"{"limit":100000000}"#]
        )
        try #require(program.line(containing: "counting") != nil, "\(program.lines)")
        let state = try #require(stateFile(of: program.pid))
        program.signal(signal)
        #expect(program.end() == 128 + signal)
        #expect(access(state, F_OK) != 0 && errno == ENOENT, "\(state) is left")
    }

    @Test func `A second Ctrl-C kills a run that does not stop`() throws {
        let program = try RunningProgram(
            "bghost",
            ["plugin", "run", library, "ignore-cancel", "--grace", "1h"]
        )
        try #require(program.line(containing: "pending") != nil, "\(program.lines)")
        program.signal(SIGINT)
        // The handler has been asked, and goes on.
        try #require(program.line(containing: "ignored why") != nil, "\(program.lines)")
        let workers = descendants(of: program.pid)
        #expect(!workers.isEmpty)
        let state = try #require(stateFile(of: program.pid))
        program.signal(SIGINT)
        #expect(program.end() == 130)
        for worker in workers { #expect(kill(worker, 0) != 0 && errno == ESRCH) }
        #expect(access(state, F_OK) != 0 && errno == ENOENT, "\(state) is left")
    }

    /// A file in the folder of a run's state, which the command holds open.
    private func stateFile(of process: pid_t) -> String? {
        let descriptors = (try? BghostTestSupport.File.list("/proc/\(process)/fd")) ?? []
        return descriptors.lazy.compactMap { descriptor -> String? in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = readlink("/proc/\(process)/fd/\(descriptor)", &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }.first { $0.hasPrefix("/tmp/bghost-run-") }
    }

    @Test func `A handler must be named where there are several`() throws {
        let unnamed = try run([library])
        #expect(unnamed.exitCode == 64)
        #expect(unnamed.error.contains("\n  honour-cancel\n"))
        #expect(unnamed.error.contains("bghost plugin run \(library) succeed\n"))
        let misspelled = try run([library, "suceed", "--json"])
        #expect(misspelled.exitCode == 4)
        let error = try JSONReader.parse(misspelled.output)["error"]
        #expect(error?["fix"]?.string == "did you mean: bghost plugin run \(library) succeed")
    }

    @Test(
        arguments: [
            (["--parameters", "[1]"], 64, "--parameters"),
            (["--parameters", "{"], 64, "--parameters"),
            (["--plugin-config", "1"], 64, "--plugin-config must be a JSON object"),
            (["--expire-after", "5"], 64, "--expire-after is a duration"),
            (["--kind", "urlSession"], 64, "--kind is refresh or processing"),
            (["--allow-network", "https://example.org/"], 64, "write example.org:443"),
        ]
    )
    func `Wrong options are refused`(options: [String], status: Int32, text: String) throws {
        let refused = try run([library, "succeed"] + options)
        #expect(refused.exitCode == status)
        #expect(refused.error.contains(text), "\(refused.error)")
    }

    @Test func `A folder stands for the only plugin that was built in it`() throws {
        let folder = try TemporaryDirectory()
        #expect(try run([folder.file("nosuch")]).exitCode == 66)
        let empty = try run([folder.path])
        #expect(empty.exitCode == 66 && empty.error.contains("build it first"), "\(empty.error)")
        // A file that is no plugin counts for nothing.
        try folder.write("no library", to: "libother.so")
        _ = try Command.run(["mkdir", "-p", folder.file("target/release")])
        _ = try Command.run(["cp", library, folder.file("target/release/liba.so")])
        let found = try run([folder.path, "succeed"])
        #expect(found.exitCode == 0, "\(found.error)")
        _ = try Command.run(["cp", library, folder.file("libb.so")])
        let several = try run([folder.path, "succeed"])
        #expect(several.exitCode == 64)
        #expect(several.error.contains("libb.so") && several.error.contains("release/liba.so"))
        let broken = try run([folder.file("libother.so")])
        #expect(broken.exitCode == 1 && broken.error.contains("cannot load"), "\(broken.error)")
    }

    @Test func `Requests of the handler are listed and not run`() throws {
        let parameters = #"{"task":"submit"}"#
        let ran = try run([library, "submit", "--parameters", parameters])
        #expect(ran.exitCode == 0, "\(ran.error)")
        #expect(ran.error.contains("submitted a request for submit; it is not run here\n"))
        #expect(ran.error.split(separator: "\n").count { $0.contains("submit answered 0") } == 1)
        // What is no task of this run is refused, as by a daemon whose manifest does not permit it.
        let refused = try run([library, "submit", "--parameters", #"{"task":"other"}"#])
        #expect(refused.exitCode == 1 && refused.error.contains("submit answered -13"))
    }

    @Test func `The sandbox opens what an option allows, and nothing else`() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("text", to: "file")
        let reader = try Fixture.library("read-file")
        let words = [reader, "read", "--parameters", #"{"path":"\#(file)"}"#]
        #expect(try run(words).exitCode == 1)
        #expect(try run(words + ["--allow-read", folder.path]).exitCode == 0)

        // Through the daemon's part of this command: the worker itself has no network.
        let server = try FileServer([])
        let address = "127.0.0.1:\(server.port)"
        let notify = [
            Artifact.path("libNotifier.so"), "--parameters",
            #"{"title":"t","message":"m","server":"http://\#(address)","topic":"x"}"#,
        ]
        let refused = try run(notify)
        #expect(
            refused.exitCode == 1 && refused.output.contains("may not reach \(address)"),
            "\(refused.output)"
        )
        #expect(server.seen.isEmpty)
        let allowed = try run(notify + ["--allow-network", address])
        #expect(allowed.exitCode == 0, "\(allowed.output)\(allowed.error)")
        #expect(server.seen.count == 1)
    }

    private func run(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost"), "plugin", "run"] + arguments)
    }
}
