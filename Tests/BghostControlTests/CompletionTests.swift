// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostCommandLine
import BghostModel
import BghostTestSupport
import Testing

/// Names that shells complete, asked of a daemon.
@Suite struct CompletionTests {
    /// What bash offers for a line whose last word is at the cursor.
    private func offers(_ words: [String], script: String) async throws -> Set<String> {
        let line = words.joined(separator: " ")
        let program = """
            source "$1"
            COMP_LINE=$2; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMP_KEY=9
            shift 2
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _bghost bghost "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let shell = [
            "env", "-i", "HOME=/nonexistent", "BGHOST_COMPLETION_SECONDS=600", "/bin/bash",
        ]
        let arguments = ["--norc", "--noprofile", "-c", program, "bash", script, line] + words
        let result = try await onThread { try Command.run(shell + arguments) }
        #expect(result.exitCode == 0, "\(result.error)")
        return Set(result.output.split(separator: "\n").map(String.init))
    }

    @Test(.timeLimit(.minutes(5)))
    func `bash completes tasks, plugins and runs of the running daemon`() async throws {
        let folder = try TemporaryDirectory()
        let script = folder.file("completion")
        let made = try await Bghost.run(["completions", "bash"])
        try File.write(Array(made.output.utf8), to: script)
        try await Serving.with { serving in
            let status = await serving.host.control.status()
            let tasks = Set(status.tasks.map(\.identifier))
            #expect(tasks.count > 1)
            let to = ["--control", serving.socketPath]
            let bghost = Artifact.path("bghost")
            for command in ["trigger", "pending", "dead", "why", "cancel"] {
                let all = try await offers([bghost, command] + to + ["com.acme."], script: script)
                #expect(all == tasks.filter { $0.hasPrefix("com.acme.") }, "\(command)")
            }
            let one = try await offers(
                [bghost, "runs"] + to + ["--task", "com.acme.st"],
                script: script
            )
            #expect(one == tasks.filter { $0.hasPrefix("com.acme.st") } && !one.isEmpty)
            let plugins = try await offers(
                [bghost, "dead"] + to + ["--plugin", ""],
                script: script
            )
            #expect(plugins == Set(status.plugins.map(\.name)) && !plugins.isEmpty)
            let none = try await offers([bghost, "trigger"] + to + ["zzz"], script: script)
            #expect(none.isEmpty || none == [""])
        }
        let gone = try await offers(
            [Artifact.path("bghost"), "trigger", "--control", folder.file("none.sock"), "com"],
            script: script
        )
        #expect(gone.isEmpty || gone == [""], "without a daemon nothing is offered")
    }

    @Test func `The options that name the daemon are taken from the line`() {
        let words = [
            "bghost", "runs", "--control", "/a", "--state-dir=/b", "-c", "x.json", "--task", "t",
            "--control",
        ]
        #expect(
            NameCompletion.connection(in: words)
                == ["--control", "/a", "--state-dir=/b", "-c", "x.json"]
        )
        #expect(NameCompletion.connection(in: ["bghost", "--", "--control", "/a"]) == [])
    }
}
