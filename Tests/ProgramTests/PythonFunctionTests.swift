// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

private let hasPython = ["x86_64", "aarch64"].contains { machine in
    access("/usr/lib/\(machine)-linux-gnu/libpython3.11.so.1.0", R_OK) == 0
}

/// The script in Python of docs/FUNCTIONS.md, in the real daemon.
@Suite(
    .ownThreads,
    .enabled(if: hasPython, "libpython3.11 is not installed")
) struct PythonFunctionTests {
    private let folder: TemporaryDirectory
    private let task = "com.example.python"

    init() throws { folder = try TemporaryDirectory() }

    /// The definitions of the document.
    private static func example() throws -> String {
        let bytes = try File.read(PackageRoot.path + "/docs/FUNCTIONS.md")
        let text = String(decoding: bytes, as: UTF8.self)
        let title = try #require(text.firstRange(of: "## A script in Python\n"))
        let chapter = text[title.upperBound...]
        let begin = try #require(chapter.firstRange(of: "```jsonc\n"))
        let rest = chapter[begin.upperBound...]
        let end = try #require(rest.firstRange(of: "```"))
        return String(rest[..<end.lowerBound])
    }

    private func daemon() throws -> TestDaemon {
        let manifest = try folder.write(
            "{\"version\": 1,\n\(try Self.example())}\n",
            to: "tasks.json"
        )
        return try TestDaemon(manifest: manifest, folder: folder)
    }

    /// - Parameter script: has no `"` and no `\`.
    private func run(_ script: String, _ daemon: TestDaemon) throws -> Command.Result {
        let parameters = #"{"argv":["python3","-c","\#(script)","{}",null]}"#
        return try daemon.command(["trigger", task, "--wait", "--parameters", parameters])
    }

    private func log(_ daemon: TestDaemon) throws -> String {
        try daemon.command(["logs", "--task", task]).output
    }

    @Test(.timeLimit(.minutes(5)))
    func `The example of the documents prints what it reads`() throws {
        let daemon = try daemon()
        let ran = try daemon.command(["trigger", task, "--wait"])
        #expect(ran.exitCode == 0, "\(ran)")
        #expect(try log(daemon).contains("100"))
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("raise ValueError('no ' + 'good')", "ValueError: no good"),
            ("import sqlite3", "undefined symbol"),
            ("open('/etc/written', 'w')", "PermissionError"),
            ("import os; os.fork()", "Error"),
        ]
    )
    func `An exception fails the run, and its traceback is in the log`(
        script: String,
        text: String
    ) throws {
        let daemon = try daemon()
        let ran = try run(script, daemon)
        #expect(ran.exitCode == 1, "\(ran)")
        let lines = try log(daemon)
        #expect(lines.contains(text), "\(lines)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A script keeps files in its data directory`() throws {
        let daemon = try daemon()
        let write = "import os; open(os.environ['HOME'] + '/kept', 'w').write('forty-two')"
        let read = "import os; print(open(os.environ['HOME'] + '/kept').read())"
        for script in [write, read] {
            let ran = try run(script, daemon)
            #expect(ran.exitCode == 0, "\(ran)")
        }
        let lines = try log(daemon)
        #expect(lines.contains("forty-two"), "\(lines)")
    }
}
