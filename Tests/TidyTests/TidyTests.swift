// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Rules of the house that a compiler does not know.
@Suite struct TidyTests {
    private func breaks(
        in files: [SourceTree.File],
        _ places: (SourceTree.File) -> [String]
    ) -> [String: [String]] {
        files.reduce(into: [:]) { found, file in
            let all = places(file)
            if !all.isEmpty { found[file.path] = all }
        }
    }

    @Test func `No source file is longer than 400 lines`() throws {
        let sources = try SourceTree.sources() + SourceTree.tests()
        // A test that reads nothing would pass.
        #expect(sources.count > 500)
        let tests = try SourceTree.files(in: ["Benchmarks", "Fuzz", "Tests"], ending: ".swift")
        #expect(tests.count > 500)
        let long = breaks(in: sources + tests) { file in
            let count = file.lines.count - 1
            return count > 400 ? ["\(count) lines"] : []
        }
        try Allowances().compare("lines", long)
    }

    /// Single words that neither code nor text uses, and what to write instead.
    static let bannedAnywhere: [(words: String, instead: String)] = [
        ("nobody", "name the actor"), ("somebody", "name the actor"),
        ("whoever", "name the actor"), ("walls", "sandbox"), ("carrier", "executor"),
        ("lane", "queue, or slot"), ("lanes", "queues, or slots"), ("desk", "registry"),
        ("manners", "behavior"), ("errand", "acknowledgement"), ("chore", "cleanup"),
        ("forgiven", "cleared"), ("forgive", "clear"), ("owes", "throttled"),
        ("owe", "throttled"), ("debts", "throttle points"),
        ("someone", "name the actor"), ("anyone", "name the actor"), ("carriers", "executors"),
        ("desks", "registries"), ("board", "registry, or table"), ("boards", "registries"),
        ("book", "index"), ("books", "indices"), ("acquit", "lift the quarantine"),
        ("chance", "random number"), ("chances", "random numbers"), ("errands", "acknowledgements"),
        ("chores", "cleanups"), ("voice", "writer"), ("bell", "event"), ("bells", "events"),
        ("pen", "write permit"), ("pens", "write permits"), ("heels", "cleanup"),
        ("proofs", "samples"), ("stretch", "window, or piece"), ("stretches", "windows"),
        ("tally", "counts"), ("tallies", "counts"), ("hurry", "forceShutdown, or say what it does"),
        // Names that were replaced, which are one word each for this search.
        ("takein", "insertAccepted"), ("goon", "say what continues"),
        ("beginwhatcan", "dispatchReady"), ("lookagain", "revalidateIfChanged"),
        ("afteralook", "revalidatingPlugins"), ("beurgent", "raiseReactorPriority"),
        ("islax", "allowsUntrustedFiles"),
    ]

    /// Words of `docs` and messages that a reader has to guess at, and what to write instead.
    static let bannedInTexts: [(words: String, instead: String)] = [
        ("owed", "throttled"), ("as a trial", "manual run"), ("see to ", "say what to do"),
        ("went by", "missed"), ("is not a word", "invalid value"),
        ("of it is begun", "next worker start"), ("permit any more", "no longer in the manifest"),
        ("carried out", "run"), ("when that opens", "say what starts it"),
        ("is begun", "starts"), ("are begun", "start"), ("lifts that", "name what ends"),
        ("who is who", "say what cannot be identified"), ("by heart", "in memory"),
        ("is quarantined since", "quarantined"),
        ("have a scheduler", "make, or ask"), ("let it be", "allow"),
    ]

    static var banned: [(words: String, instead: String)] { bannedAnywhere + bannedInTexts }

    private static func bannedWords(in text: some StringProtocol) -> [String] {
        let lower = text.lowercased()
        return banned.filter { contains(lower, $0.words) }.map {
            "\"\(text.prefix(80))\": not `\($0.words)`; \($0.instead)"
        }
    }

    @Test func `No message has a banned word`() throws {
        let found = try breaks(in: SourceTree.sources()) { file in
            StringLiterals(of: file.text).texts.flatMap { Self.bannedWords(in: $0) }
        }
        try Allowances().compare("words", found)
    }

    @Test func `No page has a banned word`() throws {
        let roots = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "docs"]
        let pages = try SourceTree.files(in: roots, ending: ".md")
        #expect(pages.count > 20)
        let found = breaks(in: pages) { page in
            page.lines.flatMap { Self.bannedWords(in: $0) }
        }
        #expect(found.isEmpty, "\(found)")
    }

    /// Names of tests and comments count too: a failed test shows its name to people.
    @Test func `No source, test or fixture has a word that is banned anywhere`() throws {
        let roots = ["Benchmarks", "Examples", "Fuzz", "Plugins", "SDK", "Sources", "Tests"]
        let endings = [".swift", ".c", ".cc", ".h"]
        let files = try SourceTree.files(in: roots).filter { file in
            // These tests list the words.
            endings.contains { file.path.hasSuffix($0) } && !file.path.hasPrefix("Tests/TidyTests/")
        }
        #expect(files.count > 1000)
        let words = Set(Self.bannedAnywhere.map { Array($0.words.utf8) })
        let found = breaks(in: files) { Self.lines(of: $0, containing: words) }
        #expect(found.isEmpty, "\(found)")
    }

    /// The lines with one of these words as a whole word, which are of small letters.
    ///
    /// It reads bytes once: splitting millions of characters takes many seconds in a debug build.
    private static func lines(of file: SourceTree.File, containing words: Set<[UInt8]>) -> [String]
    {
        let longest = words.map(\.count).max() ?? 0
        var number = 0
        var numbers: [Int] = []
        var word: [UInt8] = []
        for byte in Array(file.text.utf8) + [UInt8(ascii: "\n")] {
            switch byte {
            case 0x61...0x7A: word.append(byte)
            case 0x41...0x5A: word.append(byte | 0x20)
            default:
                if word.count > 2, word.count <= longest, words.contains(word) {
                    numbers.append(number)
                }
                word.removeAll(keepingCapacity: true)
                if byte == UInt8(ascii: "\n") { number += 1 }
            }
        }
        guard !numbers.isEmpty else { return [] }
        let lines = file.lines
        return numbers.map { String(lines[min($0, lines.count - 1)]) }
    }

    /// Whether a text has these words as words, not as a part of others.
    private static func contains(_ text: String, _ words: String) -> Bool {
        var rest = text[...]
        while let range = rest.firstRange(of: words) {
            let before = rest[..<range.lowerBound].last?.isLetter ?? false
            let after = rest[range.upperBound...].first?.isLetter ?? false
            if !before, !after || words.hasSuffix(" ") { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }

    /// A count in a text, with a noun behind it that is wrong for one.
    private static var plural: Regex<Substring> {
        /\\\((?:\w+\.)*count(?: - 1)?\) (?:dead )?(?:runs|requests|tasks|plugins|slots|transactions|transfers|lines|letters|handlers|processes|workers|functions|notifications|files|errors|warnings)\b/
    }

    /// `CountText` writes both forms; `allowed.txt` has counts that are never one.
    @Test func `A count of one has no plural`() throws {
        let plural = Self.plural
        let found = try breaks(in: SourceTree.sources()) { file in
            StringLiterals(of: file.text).texts
                .filter { $0.hasPrefix("_ errors") || $0.hasPrefix("_ warnings") }
                + file.lines.filter { $0.contains("count") }
                .flatMap { $0.matches(of: plural) }.map { String($0.output) }
        }
        try Allowances().compare("plurals", found)
    }

    @Test func `A plural behind a count is found`() {
        #expect(#""\(runs.count) runs are asked""#.contains(Self.plural))
        #expect(#""\(manifest.plugins.count) plugins,""#.contains(Self.plural))
        #expect(!#""\(name) runs""#.contains(Self.plural))
    }

    /// The compiler takes `timespec` for a type of Glibc or of a module that cannot be imported, whichever
    /// it reads first, and refuses its fields when it compiles the headers of a module in C meanwhile.
    @Test func `Swift sources leave timespec to C`() throws {
        let files = try SourceTree.sources()
        #expect(files.count > 500)
        let found = breaks(in: files) { file in
            file.text.contains("timespec(") ? ["read the clock by CBghostSystem"] : []
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `Nothing names the machine that it was built on`() throws {
        let roots = [
            ".ci", "Benchmarks", "CHANGELOG.md", "CONTRIBUTING.md", "Config", "Examples", "Fuzz",
            "Makefile", "Package.resolved", "Package.swift", "Plugins", "README.md", "SDK",
            "SECURITY.md", "Scripts", "Sources", "Tests", "docs",
        ]
        // In two parts, so that this file does not have them.
        let needles = ["/wo" + "rk/main", "/wo" + "rk/ws", "/us" + "r/share/swift-toolchain"]
        let files = try SourceTree.files(in: roots)
        let found = breaks(in: files) { file in
            needles.filter { file.text.contains($0) }
        }
        #expect(found.isEmpty, "\(found)")
        let packages = files.filter {
            $0.path.hasSuffix("Package.swift") || $0.path.hasSuffix("Package.resolved")
        }
        #expect(packages.count >= 2)
        for package in packages {
            for line in package.lines {
                guard let start = line.firstRange(of: "://")?.upperBound else { continue }
                let host = line[start...].prefix { $0 != "/" && $0 != "\"" }
                let isKnown = ["github.com", "", "www.apache.org"].contains(String(host))
                #expect(isKnown, "\(package.path): \(line)")
            }
        }
    }

    // MARK: - The tests of these tests

    @Test func `String literals are found where they are`() {
        let source = #"""
            let a = "one \(f("two", g(3)) + "x") three" // "no"
            /* "no" */ let b = """
                four "quoted"
                """
            let c = #"raw "five" \(no)"#
            #expect("six\n")
            """#
        let texts = StringLiterals(of: source).texts
        #expect(
            texts.map { $0.split(separator: " ").joined(separator: " ") }.map {
                $0.split(separator: "\n").joined()
            } == ["two", "x", "one _ three", " four \"quoted\"", #"raw "five" \(no)"#, "six"]
        )
        #expect(Self.contains("it owes 3", "owes") && !Self.contains("the lowest", "owes"))
    }
}
