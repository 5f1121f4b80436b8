// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// docs/GETTING-STARTED.md, each command as it stands, in an empty folder outside of the repository.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(30))) struct GettingStartedTests {
    private let page: [Substring]

    init() throws {
        let text = try File.read(PackageRoot.path + "/docs/GETTING-STARTED.md")
        page = String(decoding: text, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func `Each command of the page does what the page says`() async throws {
        let commands = commands()
        #expect(commands.count == 26)
        #expect(commands.first == "bghost plugin new hello --language swift")
        var script = [
            "export XDG_CACHE_HOME=\"$PWD/cache\"", "trap 'kill $! 2>/dev/null || true' EXIT",
        ]
        for command in commands {
            script.append("echo '> '\(quoted(command))")
            let parts = command.split(separator: "# exits ")
            if parts.count == 2 {
                script.append("code=0; \(parts[0]) || code=$?; [ $code = \(parts[1]) ]")
            } else {
                script.append(command)
            }
        }
        script.append("wait $!")
        let folder = try TemporaryDirectory()
        let result = try await shell(script.joined(separator: "\n"), in: folder)
        #expect(result.exitCode == 0, "\(result.output)\(result.error)")
        // The results of the runs of the page: by default, and as the page shows it.
        #expect(result.output.contains("  {\"count\":78498,\"largest\":999983}\n"))
        #expect(result.output.contains("  {\"count\":25,\"largest\":97}\n"))
        #expect(page.contains("  {\"count\":25,\"largest\":97}"))
        #expect(result.output.contains("cancelledClean"))
        #expect(result.output.contains("passes at strictness 10"), "\(result.output)")
        #expect(result.output.contains("✓ org.example.hello.primes succeeded"), "\(result.output)")
        #expect(result.output.contains("signed by ../hello.key.pub"), "\(result.output)")
        #expect(result.output.contains("✓ hello 0.1.0 is installed: tasks.d/bundle-hello.json"))
        #expect(result.output.contains("✓ hello 0.1.0 is removed"), "\(result.output)")
    }

    /// The lines of the blocks of shell commands.
    private func commands() -> [String] {
        var commands: [String] = []
        var isInside = false
        for line in page {
            if line.hasPrefix("```") {
                isInside = line == "```sh"
            } else if isInside {
                commands.append(String(line))
            }
        }
        return commands
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
