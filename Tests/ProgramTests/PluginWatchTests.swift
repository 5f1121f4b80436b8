// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// `bghost plugin run --watch`, while an author edits.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct PluginWatchTests {
    private let folder: TemporaryDirectory
    private let source: String

    init() throws {
        folder = try TemporaryDirectory()
        let template = try File.read(PackageRoot.path + "/Templates/c/template_name.c")
        source = String(decoding: template, as: UTF8.self)
        _ = try folder.write(source, to: "plugin.c")
    }

    private func program(_ options: [String] = []) throws -> RunningProgram {
        let include = PackageRoot.path + "/SDK/Sources/CBghost/include"
        // A new file takes the place of the old one, which may be mapped.
        let build = "cc -shared -fPIC -I'\(include)' -o new.tmp plugin.c && mv new.tmp plugin.so"
        return try start([folder.path, "--watch", "--build", build] + options)
    }

    /// The program, with its results among the lines that a test waits for.
    private func start(_ words: [String]) throws -> RunningProgram {
        let program = [Artifact.path("bghost"), "plugin", "run"]
        return try RunningProgram(
            command: ["/bin/sh", "-c", #"exec "$@" >&2"#, "sh"] + program + words
        )
    }

    /// Saves as editors do.
    private func save(_ text: String) throws {
        _ = try folder.write(text, to: "plugin.c~new~")
        try #require(rename(folder.file("plugin.c~new~"), folder.file("plugin.c")) == 0)
    }

    @Test func `Each change is built and run, and a build that fails is waited on`() throws {
        let program = try program(["--parameters", #"{"limit":10}"#])
        try #require(
            program.line(containing: #"{"count":4,"largest":7}"#) != nil,
            "\(program.lines)"
        )
        try #require(program.line(containing: "waiting for a change") != nil, "\(program.lines)")

        try save(source.replacing(#"\"largest\""#, with: #"\"greatest\""#))
        try #require(program.line(containing: "plugin.c changed") != nil, "\(program.lines)")
        try #require(program.line(containing: #""greatest":7"#) != nil, "\(program.lines)")

        try #require(program.has(2, linesContaining: "waiting for a change"), "\(program.lines)")

        try save(source + "\n#error broken\n")
        try #require(program.line(containing: "the build failed (exit ") != nil, "\(program.lines)")
        try #require(program.has(3, linesContaining: "waiting for a change"), "\(program.lines)")

        try save(source.replacing(#"\"largest\""#, with: #"\"last\""#))
        try #require(program.line(containing: #""last":7"#) != nil, "\(program.lines)")
        program.signal(SIGINT)
        #expect(program.end() == 130)
    }

    @Test func `A run under way is asked to stop when something changes`() throws {
        let program = try program(["--parameters", #"{"limit":100000000}"#, "--grace", "1h"])
        try #require(program.line(containing: "counting") != nil, "\(program.lines)")
        // The lines of progress say `counting` too, and those of the command `again`.
        let word = "the second run"
        let log = #"2, (bg_str)BG_LIT("counting")"#
        try #require(source.contains(log))
        try save(source.replacing(log, with: log.replacing("counting", with: word)))
        try #require(program.line(containing: "asked to stop") != nil, "\(program.lines)")
        try #require(program.line(containing: "plugin.c changed") != nil, "\(program.lines)")
        try #require(program.line(containing: word) != nil, "\(program.lines)")
        let started = EndingProcesses(descendants(of: program.pid))
        #expect(!started.isEmpty)
        program.signal(SIGTERM)
        #expect(program.end() == 128 + SIGTERM)
        #expect(started.haveEnded(), "a process outlives the command")
    }

    /// Parameters of one handler may be none for the others, so that one is checked.
    @Test func `With --check, what does not pass its checks is not run`() throws {
        _ = try folder.write(#"{"limit":10}"#, to: "few.json")
        let program = try program([
            "primes", "--check", "--parameters", "@" + folder.file("few.json"),
        ])
        try #require(program.line(containing: #""largest":7"#) != nil, "\(program.lines)")
        try #require(program.line(containing: "waiting for a change") != nil, "\(program.lines)")

        // No handler may have an empty name.
        let name = #"BG_LIT("primes")"#
        try #require(source.contains(name))
        try save(source.replacing(name, with: #"BG_LIT("")"#))
        try #require(
            program.line(containing: "does not pass its checks") != nil,
            "\(program.lines)"
        )
        program.signal(SIGINT)
        #expect(program.end() == 130)
    }

    @Test func `Ctrl-C stops a build as it would in a terminal`() throws {
        // A process that the shell has forked, and that has not become `sleep` yet, would lose the signal.
        let build = "trap 'echo cleaned; exit 1' INT; sh -c 'echo building; exec sleep 600'; :"
        let program = try start([folder.path, "--watch", "--build", build])
        // The first line has the command itself.
        try #require(program.has(2, linesContaining: "building"), "\(program.lines)")
        program.signal(SIGINT)
        #expect(program.has(2, linesContaining: "cleaned"), "\(program.lines)")
        #expect(program.end() == 130)
    }

    @Test func `A second Ctrl-C kills a run that does not stop, and leaves nothing`() throws {
        let library = try Fixture.library("misbehave")
        let program = try start([library, "ignore-cancel", "--watch", "--grace", "1h"])
        try #require(program.line(containing: "pending") != nil, "\(program.lines)")
        program.signal(SIGINT)
        try #require(program.line(containing: "ignored why") != nil, "\(program.lines)")
        let started = descendants(of: program.pid)
        #expect(!started.isEmpty)
        let states = started.flatMap(Self.states)
        #expect(!states.isEmpty)
        program.signal(SIGINT)
        #expect(program.end() == 130)
        for process in started { #expect(kill(process, 0) != 0 && errno == ESRCH) }
        for state in states { #expect(access(state, F_OK) != 0, "\(state) is left") }
    }

    /// The files in folders of runs that a process has open.
    private static func states(of process: pid_t) -> [String] {
        let descriptors = (try? File.list("/proc/\(process)/fd")) ?? []
        return descriptors.compactMap { descriptor in
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = readlink("/proc/\(process)/fd/\(descriptor)", &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        }.filter { $0.hasPrefix("/tmp/bghost-run-") }
    }

    @Test func `A folder that is not there is an error, and nothing is built elsewhere`() throws {
        let absent = folder.file("absent")
        let ran = try Command.run(
            [Artifact.path("bghost"), "plugin", "run", absent, "--watch", "--build", "touch made"]
        )
        #expect(ran.exitCode == 66)
        #expect(ran.error.contains("cannot read \(absent)"), "\(ran.error)")
    }

    @Test func `A folder is built with its build tool`() throws {
        let include = PackageRoot.path + "/SDK/Sources/CBghost/include"
        let build = "cc -shared -fPIC -I'\(include)' -o $@.tmp plugin.c && mv $@.tmp $@"
        _ = try folder.write("plugin.so: plugin.c\n\t\(build)\n", to: "Makefile")
        let program = try start([folder.path, "--watch", "--parameters", #"{"limit":10}"#])
        try #require(program.line(containing: "$ make") != nil, "\(program.lines)")
        try #require(program.line(containing: #""largest":7"#) != nil, "\(program.lines)")
        try #require(program.line(containing: "waiting for a change") != nil, "\(program.lines)")
        try save(source.replacing(#"\"largest\""#, with: #"\"greatest\""#))
        try #require(program.line(containing: #""greatest":7"#) != nil, "\(program.lines)")
        program.signal(SIGINT)
        #expect(program.end() == 130)
    }

    /// The tools themselves are tried by the tests of the templates.
    @Test(arguments: [
        ("Cargo.toml", "cargo", "build --release"),
        ("Package.swift", "swift", "build -c release --static-swift-stdlib"),
        ("go.mod", "go", "build -buildmode=c-shared -o libname.so ."),
    ])
    func `The file of a language comes before a Makefile`(
        file: String,
        tool: String,
        words: String
    ) throws {
        _ = try folder.write("", to: file)
        _ = try folder.write("all:\n\techo made\n", to: "Makefile")
        try #require(mkdir(folder.file("bin"), 0o700) == 0)
        try folder.writeProgram(
            "#!/bin/sh\n[ \"$1\" = list ] && echo example.org/name || echo 'with:' \"$@\"\n",
            to: "bin/" + tool
        )
        let command = #"PATH="$1:$PATH" exec "$2" plugin run "$3" --watch >&2"#
        let program = try RunningProgram(
            command: [
                "/bin/sh", "-c", command, "sh", folder.file("bin"), Artifact.path("bghost"),
                folder.path,
            ]
        )
        try #require(program.line(containing: "with: " + words) != nil, "\(program.lines)")
        program.signal(SIGINT)
        _ = program.end()
    }

    @Test func `Without a build command, the library is watched`() throws {
        let library = folder.file("plugin.so")
        let include = "-I" + PackageRoot.path + "/SDK/Sources/CBghost/include"
        func build(_ text: String) throws {
            _ = try folder.write(text, to: "plugin.c")
            let built = try Command.run(
                [
                    "cc", "-shared", "-fPIC", include, "-o", library + ".new",
                    folder.file("plugin.c"),
                ]
            )
            try #require(built.exitCode == 0, "\(built.error)")
            try #require(rename(library + ".new", library) == 0)
        }
        try build(source)
        let program = try start([library, "--watch", "--parameters", #"{"limit":10}"#])
        try #require(program.line(containing: #""largest":7"#) != nil, "\(program.lines)")
        try #require(program.line(containing: "waiting for a change") != nil, "\(program.lines)")
        try build(source.replacing(#"\"largest\""#, with: #"\"greatest\""#))
        try #require(program.line(containing: #""greatest":7"#) != nil, "\(program.lines)")
        program.signal(SIGINT)
        #expect(program.end() == 130)
    }

    @Test(arguments: [
        ["--build", "make"], ["--check"], ["--watch", "--parameters", "@-"],
    ])
    func `Options that make no sense are refused`(options: [String]) throws {
        let ran = try Command.run(
            [Artifact.path("bghost"), "plugin", "run", folder.path] + options
        )
        #expect(ran.exitCode == 64)
        #expect(ran.error.contains("--watch"), "\(ran.error)")
    }
}
