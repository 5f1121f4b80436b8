// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// `docs/cli.md` has the help of each command.
@Suite(.timeLimit(.minutes(5))) struct CommandReferenceTests {
    /// The page is written anew after a change of a command by the following.
    ///
    /// `BGHOST_WRITE_API=1 swift test --skip-build --disable-xctest --filter CommandReferenceTests`
    @Test func `docs/cli.md matches the generated page`() throws {
        let dump = try Command.run([Artifact.path("bghost"), "--experimental-dump-help"])
        try #require(dump.exitCode == 0, "\(dump.error)")
        let root = try #require(try JSONReader.parse(dump.output)["command"])
        var page = CommandReference()
        page.describe(root, "bghost")
        let names = page.text.matches(of: /\n## `bghost/).count
        #expect(names > 40)
        let path = PackageRoot.path + "/docs/cli.md"
        if getenv("BGHOST_WRITE_API") != nil { try File.write(page.text.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == page.text, "set BGHOST_WRITE_API=1 to write the page anew")
    }
}

/// The page of all commands, from what the program says of itself.
private struct CommandReference {
    private(set) var text = """
        # The commands

        What `--help` says of each command of `bghost`, on one page. The tests generate it from the program. The
        [README](../README.md) lists the commands by what they are for, [OPERATION.md](OPERATION.md) explains how to
        operate a daemon with them; `man bghost` has the same and the exit codes.


        """

    /// Options of nearly all commands, which the page has once.
    private static let common: Set<String> = ["version", "help"]

    mutating func describe(_ command: JSONNode, _ path: String) {
        let children = (command["subcommands"]?.array ?? []).filter {
            $0["commandName"]?.string != "help"
        }
        let arguments = (command["arguments"]?.array ?? []).filter {
            $0["shouldDisplay"]?.text != "false"
                && !Self.common.contains($0["preferredName"]?["name"]?.string ?? "")
        }
        text += "## `\(path)`\n\n"
        text += Self.sentence(command["abstract"]?.string ?? "") + "\n\n"
        if children.isEmpty {
            let words = arguments.filter { $0["kind"]?.string == "positional" }.map(Self.positional)
            let options = words.count < arguments.count ? ["[options]"] : []
            text += "    " + ([path] + words + options).joined(separator: " ") + "\n\n"
        }
        discuss(command["discussion"]?.string ?? "")
        if children.isEmpty, !arguments.isEmpty {
            text += "| argument | meaning |\n| --- | --- |\n"
            for argument in arguments { row(argument) }
            text += "\n"
        }
        for child in children {
            describe(child, "\(path) \(child["commandName"]?.string ?? "")")
        }
    }

    private mutating func discuss(_ discussion: String) {
        for block in discussion.split(separator: "\n\n") {
            // Indented lines are examples.
            let isExample = block.split(separator: "\n").contains { $0.hasPrefix("  ") }
            let fence = isExample ? "```" : nil
            let lines = isExample ? String(block) : Self.sentence(String(block))
            text += [fence, lines, fence].compactMap { $0 }.joined(separator: "\n") + "\n\n"
        }
    }

    private mutating func row(_ argument: JSONNode) {
        var name = Self.positional(argument)
        if argument["kind"]?.string != "positional" {
            let names = argument["names"]?.array?.map { name in
                (name["kind"]?.string == "long" ? "--" : "-") + (name["name"]?.string ?? "")
            }
            name = (names ?? []).joined(separator: "`, `")
            if argument["kind"]?.string == "option" {
                name += " <\(argument["valueName"]?.string ?? "")>"
            }
        }
        var meaning = argument["abstract"]?.string ?? ""
        let values = argument["allValues"]?.array?.compactMap(\.string) ?? []
        if !values.isEmpty { meaning += " Values: \(values.joined(separator: ", "))." }
        if let fallback = argument["defaultValue"]?.string { meaning += " Default: `\(fallback)`." }
        text += "| `\(name)` | \(Self.sentence(meaning).replacing("|", with: "\\|")) |\n"
    }

    private static func positional(_ argument: JSONNode) -> String {
        var word = "<\(argument["valueName"]?.string ?? "")>"
        if argument["isRepeating"]?.text == "true" { word += " ..." }
        return argument["isOptional"]?.text == "true" ? "[\(word)]" : word
    }

    /// One line, in which `<` and `>` begin no element.
    private static func sentence(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
            .replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
