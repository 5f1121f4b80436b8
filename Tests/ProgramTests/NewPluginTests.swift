// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

private let mayUnshare = (try? Command.run(["unshare", "--net", "true"]).exitCode) == 0

/// `bghost plugin new`, in an empty folder outside of the repository, up to a run in a daemon.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct NewPluginTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// The other languages are in `GettingStartedTests`.
    @Test(arguments: ["cpp", "go"])
    func `A new plugin is built, passes all checks and runs`(language: String) async throws {
        if language == "go" { try #require(Toolchain.program("go") != nil, "there is no go") }
        let made = try new("photo-upload", "--language", language)
        try #require(made.exitCode == 0, "\(made.error)")
        // The script for CI builds, tests, inspects, checks at strictness 10, and runs the handler once.
        let plugin = folder.file("photo-upload")
        let built = try await shell("photo-upload/ci.sh", in: folder)
        try #require(built.exitCode == 0, "\(built.output)\(built.error)")
        #expect(built.output.contains("this bghost can load it"))
        if language == "cpp" { #expect(built.output.contains("all tests passed\n")) }
        #expect(built.output.hasSuffix("  {\"count\":168,\"largest\":997}\n"), "\(built.output)")
        // The first of its two checks has long runs, which show stops, the second short ones for leaks.
        let passed = built.output.split(separator: "\n").filter {
            $0.contains("passes at strictness 10")
        }
        #expect(passed.count == 2, "\(built.output)")

        // What is packed can be installed: the library needs nothing that only this folder has.
        let shipped = try await shell(
            """
            bghost plugin pack photo-upload --json && bghost plugin keygen key
            bghost plugin sign photo-upload-0.1.0.bghost --key key
            mkdir host && echo '{"version": 1}' >host/tasks.json
            bghost plugin install photo-upload-0.1.0.bghost --key key.pub --yes -c host/tasks.json
            bghost check --config host/tasks.json
            """,
            in: folder
        )
        #expect(shipped.exitCode == 0, "\(shipped.output)\(shipped.error)")
        let packed = shipped.output.split(separator: "\n").first.map(String.init) ?? ""
        #expect(try JSONReader.parse(packed)["warnings"]?.array?.isEmpty == true, "\(packed)")

        let daemon = try TestDaemon(
            manifest: plugin + "/tasks.dev.json",
            folder: folder,
            arguments: ["--dev"]
        )
        let task = "org.example.photo-upload.primes"
        let run = try daemon.command(["trigger", task, "--wait", "--json"])
        #expect(run.exitCode == 0, "\(run.output)\(run.error)")
        let record = try JSONReader.parse(run.output)["run"]
        #expect(record?["result"]?["count"]?.text == "78498")
        #expect(record?["progress"]?["phase"]?.string == "counting")
        let wrong = try daemon.command(
            ["trigger", task, "--wait", "--json", "--parameters", #"{"limit":"many"}"#]
        )
        #expect(wrong.exitCode == 64)
        let faults = try JSONReader.parse(wrong.output)["error"]?["candidates"]?.array
        let fault = faults?.first?.string ?? ""
        #expect(
            fault.hasPrefix("parameters /limit: a string is there; an integer"),
            "\(wrong.output)"
        )
        #expect(daemon.stop() == 0)
    }

    @Test(
        .enabled(if: mayUnshare, "a network of its own needs root"),
        arguments: ["swift", "ios", "c", "cpp", "rust", "go"]
    )
    func `A new plugin is written without a network`(language: String) throws {
        let made = try Command.run(
            ["unshare", "--net", Artifact.path("bghost"), "plugin", "new", "hello"]
                + ["--language", language, "--folder", folder.file("hello"), "--json"]
        )
        #expect(made.exitCode == 0, "\(made.error)")
        let files = try JSONReader.parse(made.output)["files"]?.array ?? []
        #expect(files.count >= 6)
        for file in files {
            let path = folder.file("hello/" + (file.string ?? ""))
            #expect(try !BghostTestSupport.File.read(path).isEmpty, "\(path)")
        }
    }

    @Test func `A schema is named that an editor finds`() throws {
        try #require(try new("hello", "--language", "rust").exitCode == 0)
        let text = try BghostTestSupport.File.read(folder.file("hello/tasks.dev.json"))
        let schema = try JSONReader.parse(text, dialect: .commented)["$schema"]?.string
        #expect(schema == "file://\(PackageRoot.path)/Config/tasks.schema.json")
    }

    @Test func `A folder that is not empty is left as it is`() throws {
        _ = try Command.run(["mkdir", folder.file("mine")])
        let file = try folder.write("mine", to: "mine/Makefile")
        let refused = try new("hello", "--language", "c", "--folder", folder.file("mine"))
        #expect(refused.exitCode == 73)
        #expect(refused.error.contains("is not empty") && refused.error.contains("--folder"))
        #expect(try BghostTestSupport.File.list(folder.file("mine")) == ["Makefile"])
        #expect(try BghostTestSupport.File.read(file) == Array("mine".utf8))
        // A file in the place of the folder, and a folder that cannot be made.
        for place in ["mine/Makefile", "mine/Makefile/hello", "nosuch/hello"] {
            let refused = try new("hello", "--language", "c", "--folder", folder.file(place))
            #expect(refused.exitCode == 73, "\(place): \(refused.error)")
        }
        // An empty folder is taken.
        _ = try Command.run(["mkdir", folder.file("empty")])
        let taken = try new("hello", "--language", "c", "--folder", folder.file("empty"), "--json")
        #expect(taken.exitCode == 0, "\(taken.error)")
        let answer = try JSONReader.parse(taken.output)
        #expect(answer["schema"]?.string == "bghost.new/1")
        #expect(answer["folder"]?.string == folder.file("empty"))
        #expect(answer["files"]?.array?.contains { $0.string == "hello.c" } == true)
    }

    @Test(arguments: ["sp ace", "a'b", "-x"])
    func `The line that enters the folder works when it is pasted`(name: String) async throws {
        let made = try new("hello", "--language", "c", "--folder=\(name)")
        try #require(made.exitCode == 0, "\(made.error)")
        let line = try #require(made.output.split(separator: "\n").first { $0.contains("  cd ") })
        let entered = try await shell("\(line); test -f hello.c", in: folder)
        #expect(entered.exitCode == 0, "\(line): \(entered.error)")
    }

    @Test(
        arguments: [
            (["a_b", "--language", "c"], "`a_b` has `_`"),
            (["../a", "--language", "c"], "has `.`"),
            (["swift", "--language", "swift"], "a name that Swift, Rust, Go or the SDK uses"),
            (["hello"], "--language"),
            (["hello", "--language", "cobol"], "'cobol' is invalid"),
        ]
    )
    func `A wrong name or language is refused`(arguments: [String], text: String) throws {
        let refused = try new(arguments)
        #expect(refused.exitCode == 64)
        #expect(refused.error.contains(text), "\(refused.error)")
        #expect(try BghostTestSupport.File.list(folder.path) == [])
    }

    @Test func `sdk prints the folder that has the header`() async throws {
        let printed = try await shell("cat \"$(bghost sdk)/Package.swift\"", in: folder)
        #expect(printed.exitCode == 0 && printed.output.contains("name: \"bghost-sdk\""))
        let header = try await shell("cat \"$(bghost sdk --include)/bghost.h\"", in: folder)
        #expect(header.exitCode == 0 && header.output.contains("BG_ABI_MAJOR"))
        let json = try JSONReader.parse(try await shell("bghost sdk --json", in: folder).output)
        #expect(json["sdk"]?.string == PackageRoot.path + "/SDK")
        let wrong = try await shell("BGHOST_SDK=/nowhere bghost sdk", in: folder)
        #expect(wrong.exitCode == 66 && wrong.error.contains("BGHOST_SDK is /nowhere"))
    }

    /// As `make install` and the Debian packages lay it out.
    @Test func `An installed program finds what was installed with it`() async throws {
        let root = folder.file("usr")
        for part in ["bin", "share/bghost"] {
            _ = try Command.run(["mkdir", "-p", "\(root)/\(part)"])
        }
        // A link would be the build's own program: the kernel names its file.
        _ = try Command.run(["cp", Artifact.path("bghost"), root + "/bin/bghost"])
        let none = try await Command.runApart([root + "/bin/bghost", "sdk"])
        #expect(none.exitCode == 66 && none.error.contains("bghost-dev"), "\(none.error)")
        let rust = try await Command.runApart(
            [root + "/bin/bghost", "plugin", "new", "a", "--language", "rust"]
                + ["--folder", folder.file("a")]
        )
        #expect(rust.exitCode == 0, "a plugin in Rust needs no SDK: \(rust.error)")
        _ = try Command.run(["cp", "-rL", PackageRoot.path + "/SDK", root + "/share/bghost/sdk"])
        let found = try await Command.runApart([root + "/bin/bghost", "sdk"])
        #expect(found.output == root + "/share/bghost/sdk\n")
        // With copies in place of links: nothing of it is outside.
        let links = try Command.run(["find", root + "/share/bghost/sdk", "-type", "l"])
        #expect(links.output == "")
    }

    private func new(_ arguments: String...) throws -> Command.Result { try new(arguments) }

    private func new(_ arguments: [String]) throws -> Command.Result {
        try Command.run(
            ["env", "-C", folder.path, Artifact.path("bghost"), "plugin", "new"] + arguments
        )
    }
}

/// Runs a line of a shell in a folder, with this build's `bghost` on the path.
func shell(_ line: String, in folder: TemporaryDirectory) async throws -> Command.Result {
    let settings = "cd '\(folder.path)'; export PATH=\"\(Artifact.directory):$PATH\""
    return try await Command.runApart(["sh", "-ec", "\(settings); \(line)"])
}
