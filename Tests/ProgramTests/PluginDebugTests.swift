// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `bghost plugin run --debug`, with a real debugger.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct PluginDebugTests {
    private func prime() throws -> String {
        try Fixture.library(
            source: PackageRoot.path + "/Templates/c/template_name.c",
            flags: ["-g", "-O0"]
        )
    }

    private func run(_ arguments: [String], as user: [String] = []) throws -> Command.Result {
        try Command.run(user + [Artifact.path("bghost"), "plugin", "run"] + arguments)
    }

    @Test func `A breakpoint holds the run longer than its runtime`() throws {
        let folder = try TemporaryDirectory()
        // The handler is held three times as long as it may run, first before it begins and then inside.
        let script = try folder.write(
            """
            set pagination off
            break is_prime if number == 11
            shell sleep 2
            continue
            shell sleep 3
            backtrace 2
            print number
            delete
            continue
            """,
            to: "script.gdb"
        )
        let ran = try run(
            [try prime(), "--parameters", #"{"limit":1000}"#, "--expire-after", "1s"]
                + ["--debug", "--debugger", "gdb -batch -x \(script)"]
        )
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        #expect(ran.output.contains("in count_primes"), "\(ran.output)")
        #expect(ran.output.contains("$1 = 11\n"), "\(ran.output)")
        #expect(ran.output.contains(#"{"count":168,"largest":997}"#), "\(ran.output)")
        #expect(ran.error.contains("set breakpoints and continue"), "\(ran.error)")
    }

    @Test func `Times run again when the debugger has gone`() throws {
        let ran = try run(
            [try Fixture.library("misbehave"), "ignore-cancel", "--expire-after", "100ms"]
                + ["--grace", "100ms", "--debug", "--debugger", "gdb -batch -ex detach"]
        )
        #expect(ran.exitCode == 1)
        #expect(ran.output.contains("killed"), "\(ran.output)\(ran.error)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func `An author needs no root for it`() throws {
        let folder = try TemporaryDirectory()
        let library = folder.file("libprime.so")
        _ = try Command.run(["cp", try prime(), library])
        _ = try Command.run(["chmod", "-R", "a+rX", folder.path])
        let ran = try run(
            [library, "--parameters", #"{"limit":1000}"#, "--debug", "--debugger"]
                + [
                    "gdb -nx -batch -ex 'break count_primes' -ex continue -ex 'info symbol $pc' -ex c"
                ],
            as: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        )
        #expect(ran.exitCode == 0, "\(ran.output)\(ran.error)")
        #expect(ran.output.contains("count_primes + "), "\(ran.output)\(ran.error)")
    }

    @Test func `A debugger that does not attach ends the command`() throws {
        let library = try Fixture.library("misbehave")
        let refused = try run([library, "succeed", "--debug", "--debugger", "false"])
        #expect(refused.exitCode == 1)
        #expect(refused.error.contains("ended with 1 before it was attached"), "\(refused.error)")
        let absent = try run([library, "succeed", "--debug", "--debugger", "/nosuch/gdb"])
        #expect(absent.error.contains("ended with 127 before it was attached"), "\(absent.error)")
    }

    @Test(
        arguments: [
            (["--debugger", "gdb"], "--debugger needs --debug"),
            (["--debug", "--json"], "--debug needs the terminal"),
            (["--debug", "--watch"], "--debug needs the terminal"),
        ]
    )
    func `What cannot be had together is refused`(options: [String], text: String) throws {
        let refused = try run([try Fixture.library("misbehave"), "succeed"] + options)
        #expect(refused.exitCode == 64)
        #expect(refused.error.contains(text), "\(refused.error)")
    }
}
