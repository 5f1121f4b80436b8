// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// The commands that the manuals ask readers to try.
@Suite(.ownThreads) struct ExampleTests {
    /// Functions of zlib, SQLite and libc, as tasks, with nothing written for them.
    @Test(.timeLimit(.minutes(5)))
    func `The example of plain C functions runs as its comments say`() throws {
        let folder = try TemporaryDirectory()
        let daemon = try TestDaemon(
            manifest: PackageRoot.path + "/Examples/functions/tasks.json",
            folder: folder
        )
        for (task, key, wanted) in [
            ("com.example.checksum", "result", "3421780262"),
            ("com.example.is-complete-sql", "result", "1"),
            ("com.example.divide", "result", #"{"quotient":3,"remainder":2}"#),
        ] {
            let answer = try daemon.command(["trigger", task, "--wait", "--json"])
            #expect(answer.exitCode == 0, "\(answer.error)")
            let run = try JSONReader.parse(Array(answer.output.utf8))["run"]
            #expect(run?["outcome"]?.string == "succeeded")
            let result = try #require(run?["result"])
            #expect(result[key]?.text == wanted, "\(answer.output)")
        }
        let host = try daemon.command(["trigger", "com.example.host-name", "--wait"])
        #expect(host.exitCode == 0)
        #expect(daemon.stop() == 0)
    }
}
