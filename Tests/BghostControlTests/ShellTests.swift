// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BghostAPI
import BghostManifest
@testable import BghostCommand
import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// The program among the others of a shell.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct ShellTests {
    @Test func `Ends quietly when the reader is gone`() async throws {
        try await Serving.with { serving in
            // The reader is gone before the program starts, so that it cannot be too late.
            let script = """
                exec 3> >(exec true); wait $!
                "$0" status --control "$1" >&3; echo $?
                """
            let program = Artifact.path("bghost")
            let result = try await onThread {
                try Command.run(["bash", "-c", script, program, serving.socketPath])
            }
            #expect(result.output == "141\n")
            #expect(result.error.isEmpty)
        }
    }

    @Test func `Fails if the answer cannot be written`() async throws {
        let program = Artifact.path("bghost")
        let result = try await onThread {
            try Command.run(["sh", "-c", "\"$0\" version > /dev/full", program])
        }
        #expect(result.exitCode == 1)
        #expect(result.error == "error: cannot write the answer: No space left on device\n")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `Completes in each shell`(shell: String) async throws {
        let script = try await Bghost.run(["completion", shell])
        #expect(script.exitCode == 0)
        for word in ["trigger", "expire", "inspect", "completion", "--state-dir"] {
            #expect(script.output.contains(shell == "fish" ? word.replacing("--", with: "") : word))
        }
        // `make test` installs the others where it can.
        guard Self.has(shell) else { return }
        let folder = try TemporaryDirectory()
        let file = try folder.write(script.output, to: "completion")
        let parsed = try await onThread { try Command.run([shell, "-n", file]) }
        #expect(parsed.exitCode == 0)
        #expect(parsed.error.isEmpty)
        let broken = try folder.write(script.output + "\nif true; then", to: "broken")
        let refused = try await onThread { try Command.run([shell, "-n", broken]) }
        #expect(refused.exitCode != 0, "\(shell) reads the whole script")
    }

    private static func has(_ shell: String) -> Bool {
        ["/bin", "/usr/bin"].contains { access("\($0)/\(shell)", X_OK) == 0 }
    }

    @Test(.enabled(if: has("fish"))) func `fish completes a command and its options`() async throws
    {
        let folder = try TemporaryDirectory()
        let file = try folder.write(try await Bghost.run(["completion", "fish"]).output, to: "c")
        for (line, offer) in [
            ("bghost tri", "trigger"), ("bghost trigger --ign", "--ignore-requirements"),
        ] {
            let script = "source \(file); complete -C '\(line)'"
            let result = try await onThread {
                try Command.run(["env", "HOME=\(folder.path)", "fish", "-N", "-c", script])
            }
            let offers = result.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
            #expect(offers == [Substring(offer)], "\(line): \(result)")
        }
    }

    @Test func `Bash completes a command`() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(try await Bghost.run(["completion", "bash"]).output, to: "c")
        let script = """
            source \(file); COMP_WORDS=(bghost tri); COMP_CWORD=1; COMP_LINE='bghost tri'
            COMP_POINT=10; cur=tri; prev=bghost; _bghost bghost tri bghost; echo "${COMPREPLY[@]}"
            """
        let result = try await onThread { try Command.run(["bash", "-c", script]) }
        #expect(result.output == "trigger\n")
    }

    @Test func `Explains its codes`() async throws {
        for code in FaultCode.allCases {
            #expect(ErrorCatalog.explanation(of: code.rawValue.lowercased()) == code.explanation)
        }
        for code in DiagnosticCode.allCases {
            #expect(FaultCode(rawValue: code.rawValue) == nil, "one number, two meanings")
            #expect(ErrorCatalog.explanation(of: code.rawValue) == code.explanation)
        }
        let known = try await Bghost.run(["help", "BG2101"])
        #expect(known.exitCode == 0)
        #expect(known.output.hasPrefix("BG2101: No daemon answers"))
        let unknown = try await Bghost.run(["help", "BG9999"])
        #expect(unknown.exitCode == 4)
        let command = try await Bghost.run(["help", "trigger"])
        #expect(command.output.contains("_simulateLaunchForTaskWithIdentifier"))
    }

    @Test func `Help shows the options of the default`() async throws {
        let help = try await Bghost.run(["--help"])
        #expect(help.exitCode == 0)
        #expect(help.error.isEmpty)
        for option in [
            "--config", "--state-dir", "--control", "--slots", "--plugin-path", "--log-format",
            "--log-level",
        ] {
            #expect(help.output.contains(option))
        }
    }

    @Test func `Colour is decided for each stream`() async throws {
        let plain = try await Bghost.run(["tirgger"])
        #expect(!plain.error.contains("\u{1B}"))
        let forced = try await Bghost.run(["tirgger"], environment: ["FORCE_COLOR=1"])
        #expect(forced.error.hasPrefix("\u{1B}[31merror\u{1B}[0m"))
        let chosen = try await Bghost.run([
            "status", "--color", "always", "--control", "/nonexistent",
        ])
        #expect(chosen.error.hasPrefix("\u{1B}[31merror[BG2101]\u{1B}[0m"))
    }

    /// The parser makes a name of a type that has none, and reads the whole program's table of conformances
    /// for each: a third of the time of a command.
    @Test func `Every command has its name`() {
        var commands: [any ParsableCommand.Type] = [Root.self]
        while let command = commands.popLast() {
            #expect(command.configuration.commandName != nil, "\(command)")
            commands += command.configuration.subcommands
        }
    }
}
