// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost plugin check` as its user sees it.
@Suite(.ownThreads, .serialized) struct PluginCheckTests {
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("WeatherCheck", #"{"latitude": 52.5, "longitude": 13.4}"#),
            ("PhotoUpload", #"{"spool": "/nonexistent", "server": "http://127.0.0.1:1/"}"#),
            (
                "Notifier",
                #"{"title": "t", "message": "m", "server": "http://127.0.0.1:1", "topic": "x"}"#
            ),
        ]
    )
    func `The sample plugins pass at strictness 10`(name: String, parameters: String) async throws {
        let library = Artifact.path("lib\(name).so")
        for parameters in ["{}", parameters] {
            let checked = try await CheckedPlugin(library, ["--parameters", parameters])
            #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `The example in C passes at strictness 10`() async throws {
        let source = PackageRoot.path + "/Examples/c/weather.c"
        let checked = try await CheckedPlugin(Fixture.library(source: source))
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        // Checks of a stop are not skipped.
        #expect(checked.checks.first { $0.name == "stop" }?.verdict == "passed")
    }

    @Test(.timeLimit(.minutes(10)))
    func `The example in Rust passes at strictness 10`() async throws {
        let folder = try TemporaryDirectory()
        let source = PackageRoot.path + "/Examples/rust/lib.rs"
        let library = try await Rust.library(source, in: folder)
        let checked = try await CheckedPlugin(library)
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        #expect(checked.checks.first { $0.name == "stop" }?.verdict == "passed")
    }

    /// In C, so that it needs no compiler of Go, and shows what only later ones than Debian's do.
    @Test(.timeLimit(.minutes(10)))
    func `What Go's runtime does is permitted to a plugin that has and declares it`() async throws {
        let marks = ["LIKE_GO", "LIKE_GO_FILE"]
        let like = try await CheckedPlugin(Fixture.library("Checks/like-go", defines: marks))
        #expect(like.exitCode == 0 && like.troubles == [], "\(like.account)")
        #expect(like.checks.first { $0.name == "mapping" }?.verdict == "skipped")
        for missing in marks {
            let defines = marks.filter { $0 != missing }
            let other = try await CheckedPlugin(Fixture.library("Checks/like-go", defines: defines))
            #expect(
                other.troubles == [
                    "load-threads failed", "load-state failed", "signals failed", "close failed",
                ],
                "\(other.account)"
            )
        }
    }

    /// As a worker does: `MainThreadTests` has the same of the daemon.
    @Test(.timeLimit(.minutes(10)))
    func `A plugin that wants the main thread is served on it`() async throws {
        let checked = try await CheckedPlugin(Fixture.library("Checks/main-thread"))
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        for name in ["open", "run", "overlap", "open-again", "two-at-once", "close", "poor-host"] {
            #expect(checked.checks.first { $0.name == name }?.verdict == "passed", "\(name)")
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["main-actor", "main-queue", "main-thread-is-free", "main-until-cancelled"]
    )
    func `The main actor of a Swift plugin runs`(handler: String) async throws {
        let checked = try await CheckedPlugin(
            Artifact.path("libRuntimePlugin.so"),
            ["--check", "run", "--check", "stop", "--check", "status", "--handler", handler]
        )
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        #expect(checked.checks.first { $0.name == "run" }?.verdict == "passed")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A file that is no library fails the first check, and the rest is skipped`() async throws {
        let folder = try TemporaryDirectory()
        let checked = try await CheckedPlugin(folder.write("#!/bin/sh\n", to: "plugin.so"))
        #expect(checked.troubles == ["file failed"] && checked.exitCode == 1)
        #expect(checked.checks.dropFirst().allSatisfy { $0.verdict == "skipped" })
        #expect(checked.json["plugin"]?.isNull == true)
    }

    /// A plugin that leaves its process group and its parent, and holds the streams open.
    @Test(.timeLimit(.minutes(5)))
    func `A check leaves no process of the plugin`() async throws {
        let name = "bgcheck\(getpid())"
        let how = """
            HOW=do{if(!fork()){setsid();if(!fork()){FILE*f=fopen("/proc/self/comm","w");\
            fputs("\(name)",f);fclose(f);for(;;)pause();}_exit(0);}}while(0)
            """
        let library = try Fixture.library("Checks/run", defines: [how])
        let checked = try await CheckedPlugin(library, ["--check", "children"])
        #expect(checked.troubles == ["children failed"], "\(checked.account)")
        for entry in try BghostTestSupport.File.list("/proc") where Int32(entry) != nil {
            guard let comm = try? BghostTestSupport.File.read("/proc/\(entry)/comm") else {
                continue
            }
            guard String(decoding: comm, as: UTF8.self) == name + "\n" else { continue }
            // One that was killed may wait for a processor to end.
            #expect(EndingProcesses([pid_t(entry) ?? 0]).haveEnded(), "\(entry)")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A check that uses too much memory is killed`() async throws {
        let how = "HOW=mmap(0,1<<28,3,MAP_POPULATE|MAP_PRIVATE|MAP_ANONYMOUS,-1,0);for(;;)pause()"
        let library = try Fixture.library("Checks/run", defines: [how])
        let checked = try await CheckedPlugin(
            library,
            ["--check", "run", "--memory", "128", "--runtime", "20s"]
        )
        #expect(checked.troubles == ["run failed"])
        let run = checked.checks.first { $0.name == "run" }
        #expect(run?.message == "it takes more than 128 MiB of memory in a run of work")
    }

    /// Side by side, so many runs would keep all processors busy for a minute.
    @Test(.timeLimit(.minutes(5)))
    func `Leaks of runs that compute for long are not looked for`() async throws {
        let how = "HOW=for(clock_t end=clock()+CLOCKS_PER_SEC/10;clock()<end;)"
        let library = try Fixture.library("Checks/run", defines: [how])
        let leaks = ["leaks-descriptors", "leaks-threads", "leaks-memory"]
        let checked = try await CheckedPlugin(library, leaks.flatMap { ["--check", $0] })
        #expect(checked.exitCode == 0 && checked.troubles == [], "\(checked.account)")
        for name in leaks {
            let check = checked.checks.first { $0.name == name }
            #expect(check?.verdict == "skipped", "\(name)")
            #expect(check?.message.contains("compute for too long") == true, "\(name)")
        }
    }

    /// A plugin that closes the checker's own descriptors cannot make it believe anything.
    @Test(.timeLimit(.minutes(5)))
    func `A missing verdict is a failure`() async throws {
        let library = try Fixture.library("Checks/run", defines: ["HOW=close_range(3,~0u,0)"])
        let checked = try await CheckedPlugin(library, ["--check", "run"])
        #expect(checked.exitCode == 1)
        let run = checked.checks.first { $0.name == "run" }
        #expect(run.map { ["failed", "crashed"].contains($0.verdict) } == true)
    }

    @Test(.timeLimit(.minutes(5)))
    func `The same seed gives the same inputs`() async throws {
        let library = try Fixture.library(
            "Checks/run",
            defines: ["HOW=if(memmem(info->params.ptr,info->params.len,\"count\",5))abort()"]
        )
        var messages: Set<String> = []
        for seed in ["7", "7", "8"] {
            let checked = try await CheckedPlugin(
                library,
                ["--check", "odd-parameters", "--reproduce", seed]
            )
            #expect(checked.json["seed"]?.string == seed)
            #expect(checked.troubles == ["odd-parameters crashed"], "\(checked.account)")
            messages.insert(checked.checks.last?.message ?? "")
        }
        #expect(messages.count == 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func `Strictness selects the checks, and warnings fail only at 10`() async throws {
        let library = try Fixture.library("Checks/output")
        let usual = try await CheckedPlugin(library, ["--strictness", "5"])
        #expect(usual.exitCode == 0)
        #expect(usual.checks.allSatisfy { $0.level <= 5 })
        #expect(Set(usual.checks.map(\.level)) == [1, 2, 3, 4, 5])
        let more = try await CheckedPlugin(library, ["--strictness", "9", "--only-failed"])
        #expect(more.exitCode == 0 && more.troubles == ["output warned"])
        #expect(more.checks.count == 1)
        #expect(more.json["counts"]?["warned"]?.text == "1")
        let most = try await CheckedPlugin(library, ["--check", "output", "--only-failed"])
        #expect(most.exitCode == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A single check can run in the process of the program`() async throws {
        let program = Artifact.path("bghost")
        let library = try Fixture.library("Checks/status")
        let check = [program, "plugin", "check", library, "--in-process"]
        let found = try await Command.runApart(check + ["--check", "status"])
        #expect(found.exitCode == 1 && found.output.contains("start() answered 7"))
        #expect(try await Command.runApart(check + ["--check", "run"]).exitCode == 0)
        #expect(try await Command.runApart(check).exitCode == 64)
        // Where a check takes two, the other one is a process of its own.
        let lock = try Fixture.library("Checks/two-at-once", defines: ["IN_RUN"])
        let two = try await Command.runApart([
            program, "plugin", "check", lock, "--in-process", "--check", "two-at-once",
        ])
        #expect(two.exitCode == 1 && two.output.contains("a run of work does not end"))
        let good = try await Command.runApart(check + ["--check", "two-at-once"])
        #expect(good.exitCode == 0, "\(good.output)")
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (["/nonexistent.so"], 66, "cannot read /nonexistent.so"),
            (["--check", "stopp", "LIBRARY"], 64, "did you mean `stop`?"),
            (["--strictness", "11", "LIBRARY"], 64, "1 to 10"),
            (["--parameters", "[1]", "LIBRARY"], 64, "must be a JSON object"),
            (["--grace", "1", "LIBRARY"], 64, "is a duration of 100ms to 60s"),
            (["--handler", "wrok", "LIBRARY"], 4, "no handler `wrok`; it has work"),
        ] as [([String], Int32, String)]
    )
    func `Contradictory options are refused`(
        arguments: [String],
        exitCode: Int32,
        words: String
    ) async throws {
        let library = try Fixture.library("Checks/well-behaved")
        let result = try await Command.runApart(
            [Artifact.path("bghost"), "plugin", "check"]
                + arguments.map { $0 == "LIBRARY" ? library : $0 }
        )
        #expect(result.exitCode == exitCode && result.error.contains(words), "\(result.error)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `The manual lists each check with its strictness`() async throws {
        let checked = try await CheckedPlugin(Fixture.library("Checks/well-behaved"))
        let manual = try BghostTestSupport.File.read(PackageRoot.path + "/docs/CHECK.md")
        let rows = String(decoding: manual, as: UTF8.self).split(separator: "\n")
            .drop { $0 != "## The checks" }
            .filter { $0.hasPrefix("| `") }
            .map { $0.split(separator: "|").prefix(2).map { $0.filter { !" `".contains($0) } } }
        #expect(rows == checked.checks.map { [$0.name, String($0.level)] })
    }
}
