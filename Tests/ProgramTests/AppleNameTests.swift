// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// The table of Apple's names in `docs/IOS.md`: written from `docs/ios-names.txt`, and compared with the
/// symbols of the SDK.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct AppleNameTests {
    /// What a line of the list says about a name.
    private enum Mark: Hashable {
        case present
        case hint(String)
        case absent(String)
        case own
    }

    private struct Entry {
        var section: String
        var name: String
        var mark: Mark

        /// The type that has it; itself if it is none's member.
        var owner: String {
            let parts = name.prefix { $0 != "(" }.split(separator: ".")
            return parts.count > 1 ? parts.dropLast().joined(separator: ".") : name
        }
        var member: String {
            owner == name ? name : String(name.dropFirst(owner.utf8.count + 1))
        }
    }

    private static let page = PackageRoot.path + "/docs/IOS.md"
    private static let begin =
        "<!-- Generated: BGHOST_WRITE_API=1 with the test AppleNameTests, from ios-names.txt. -->\n"
    private static let end = "<!-- End of the generated part. -->\n"

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read(path), as: UTF8.self)
    }

    private static func entries() throws -> [Entry] {
        var section = ""
        var entries: [Entry] = []
        for line in try text(PackageRoot.path + "/docs/ios-names.txt").split(separator: "\n") {
            if line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
            } else if !line.hasPrefix("#") {
                let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
                let mark: Mark? =
                    switch (parts.dropFirst().first, parts.count) {
                    case (nil, 1): .present
                    case ("+", 2): .own
                    case ("~", 3): .hint(parts[2])
                    case ("-", 3): .absent(parts[2])
                    default: nil
                    }
                let entry = try #require(mark, "docs/ios-names.txt: \(line)")
                entries.append(Entry(section: section, name: parts[0], mark: entry))
            }
        }
        return entries
    }

    // MARK: The table

    /// A row for all names of a type that share a mark.
    private static func table(_ entries: [Entry]) -> String {
        var text = ""
        var section = ""
        var rows: [(owner: String, mark: Mark, members: [String])] = []
        func flush() {
            for row in rows {
                let names = row.members.map { $0 == row.owner ? "itself" : "`\($0)`" }
                    .joined(separator: ", ")
                let here =
                    switch row.mark {
                    case .present: "✓"
                    case .own: "bghost's own"
                    case .hint(let how): "hint: \(how)"
                    case .absent(let why): "no: \(why)"
                    }
                text += "| `\(row.owner)` | \(names) | \(here) |\n"
            }
            rows = []
        }
        for entry in entries {
            if entry.section != section {
                flush()
                section = entry.section
                text += "\n### \(section)\n\n| type | name | here |\n| --- | --- | --- |\n"
            }
            let index = rows.firstIndex { $0.owner == entry.owner && $0.mark == entry.mark }
            if let index {
                rows[index].members.append(entry.member)
            } else {
                rows.append((entry.owner, entry.mark, [entry.member]))
            }
        }
        flush()
        return text.trimmingPrefix("\n") + "\n"
    }

    @Test func `The page has the table of the list`() throws {
        let page = try Self.text(Self.page)
        let first = try #require(page.firstRange(of: Self.begin))
        let rest = page[first.upperBound...]
        let last = try #require(rest.firstRange(of: Self.end))
        let generated =
            "\(page[..<first.upperBound])\(Self.table(try Self.entries()))\(rest[last.lowerBound...])"
        if getenv("BGHOST_WRITE_API") != nil { try File.write(generated.utf8, to: Self.page) }
        #expect(
            try Self.text(Self.page) == generated,
            "after a change of docs/ios-names.txt, BGHOST_WRITE_API=1 writes the table"
        )
    }

    // MARK: The symbols

    private struct Symbols {
        var names: Set<String> = []
        /// The superclass by class.
        var supers: [String: String] = [:]
        /// What a type's other name stands for.
        var aliases: [String: String] = [:]

        func has(_ name: String, in owner: String) -> Bool {
            if names.contains(name) { return true }
            if let parent = supers[owner] {
                let member = name.dropFirst(owner.utf8.count)
                return owner != name && has(parent + member, in: parent)
            }
            guard let alias = aliases[owner] else { return false }
            return names.contains(alias + name.dropFirst(owner.utf8.count))
        }
    }

    /// The public symbols of the SDK's modules, which the compiler lists from what the build has made.
    private static func symbols() throws -> Symbols {
        let folder = try TemporaryDirectory()
        let build = Artifact.path("")
        var symbols = Symbols()
        for module in ["BackgroundTasks", "BackgroundFoundation", "UserNotifications"] {
            let result = try Command.run([
                "swift", "symbolgraph-extract", "-module-name", module, "-I", build + "Modules",
                "-Xcc", "-fmodule-map-file=\(build)CBghost.build/module.modulemap",
                "-target", Self.target, "-output-dir", folder.path, "-skip-synthesized-members",
            ])
            try #require(result.exitCode == 0, "\(result)")
        }
        for file in try File.list(folder.path) where file.hasSuffix(".symbols.json") {
            let graph = try JSONReader.parse(try text(folder.file(file)))
            var names: [String: String] = [:]
            for symbol in graph["symbols"]?.array ?? [] {
                let name = (symbol["pathComponents"]?.array ?? []).compactMap(\.string)
                    .joined(separator: ".")
                symbols.names.insert(name)
                names[symbol["identifier"]?["precise"]?.string ?? ""] = name
                guard symbol["kind"]?["identifier"]?.string == "swift.typealias" else { continue }
                let declaration = (symbol["declarationFragments"]?.array ?? [])
                    .compactMap { $0["spelling"]?.string }.joined()
                symbols.aliases[name] = declaration.split(separator: "= ").last.map(String.init)
            }
            for relation in graph["relationships"]?.array ?? []
            where relation["kind"]?.string == "inheritsFrom" {
                let (source, target) = (relation["source"]?.string, relation["target"]?.string)
                guard let name = names[source ?? ""], let parent = names[target ?? ""]
                else { continue }
                symbols.supers[name] = parent
            }
        }
        return symbols
    }

    private static var target: String {
        #if arch(arm64)
            "aarch64-unknown-linux-gnu"
        #else
            "x86_64-unknown-linux-gnu"
        #endif
    }

    /// Members that each type of their kind has, on both sides.
    private static let common: Set = ["description", "init(rawValue:)", "rawValue", "~=(_:_:)"]

    @Test func `The SDK has what the list says, and no name of these types that it omits`() throws {
        let entries = try Self.entries()
        let symbols = try Self.symbols()
        #expect(entries.count > 300 && symbols.names.count > 300)
        for entry in entries {
            let isDeclared = symbols.has(entry.name, in: entry.owner)
            if case .absent = entry.mark {
                #expect(!isDeclared, "docs/ios-names.txt says that \(entry.name) is absent")
            } else {
                #expect(isDeclared, "docs/ios-names.txt has \(entry.name), and the SDK has not")
            }
        }
        let listed = Set(entries.map(\.name))
        #expect(listed.count == entries.count, "a name is listed twice")
        let others = Dictionary(
            symbols.aliases.filter { listed.contains($0.key) }.map { ($1, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for name in symbols.names {
            let entry = Entry(section: "", name: name, mark: .present)
            guard name.hasPrefix("BG") || name.hasPrefix("UN") || name.hasPrefix("URLSession"),
                !Self.common.contains(entry.member), others[name] == nil
            else { continue }
            let alias = others[entry.owner].map { "\($0).\(entry.member)" }
            #expect(
                listed.contains(alias ?? name),
                "add \(name) to docs/ios-names.txt: with + if Apple has no such name"
            )
        }
    }
}
