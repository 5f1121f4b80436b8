// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// The texts of `--help`, of the program as it was built.
@Suite(.ownThreads) struct HelpTests {
    /// With what an abstract may begin: what the command does, in the imperative.
    static let verbs: Set<String> = [
        "Answer", "Ask", "Cancel", "Check", "Clear", "Delete", "Drain", "Expire", "Explain",
        "Export",
        "Inspect", "Install", "List", "Move", "Pause", "Post", "Print", "Record", "Reload",
        "Remove", "Restore",
        "Replay", "Request", "Resume", "Retry",
        "Run", "Set", "Show", "Sign", "Simulate", "Start", "Stop", "Switch", "Test", "Wait",
        "Withdraw", "Write",
    ]

    @Test(.timeLimit(.minutes(5)))
    func `Each command's abstract begins with an imperative`() throws {
        let dump = try Command.run([Artifact.path("bghost"), "--experimental-dump-help"])
        #expect(dump.exitCode == 0, "\(dump.error)")
        let root = try #require(try JSONReader.parse(dump.output)["command"])
        var open = [root]
        var count = 0
        while let command = open.popLast() {
            let name = command["commandName"]?.string ?? ""
            open += command["subcommands"]?.array ?? []
            // The parser's own, whose words are not ours.
            guard name != "help" else { continue }
            let abstract = command["abstract"]?.string ?? ""
            let verb = abstract.prefix { $0.isLetter }
            #expect(Self.verbs.contains(String(verb)), "\(name): \(abstract)")
            #expect(abstract.hasSuffix("."), "\(name): \(abstract)")
            count += 1
        }
        #expect(count > 40)
    }
}
