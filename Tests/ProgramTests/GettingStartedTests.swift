// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// docs/GETTING-STARTED.md, from nothing to a signed plugin that another host runs, updates and removes: each
/// command as it stands, in an empty folder outside of the repository.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(30))) struct GettingStartedTests {
    private let page: [Substring]

    init() throws {
        let text = try File.read(PackageRoot.path + "/docs/GETTING-STARTED.md")
        page = String(decoding: text, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: ["swift", "c", "rust"])
    func `Each command of the page does what the page says`(language: String) async throws {
        if language == "rust" {
            try #require(Toolchain.program("cargo") != nil, "there is no cargo")
        }
        let differences = try differences(of: language)
        let commands = try commands(differences).map {
            $0.replacing("--language swift", with: "--language \(language)")
        }
        #expect(commands.count == 39)
        #expect(commands.first == "bghost plugin new hello --language \(language)")
        let folder = try TemporaryDirectory()
        let result = try await shell(script(commands), in: folder)
        try #require(result.exitCode == 0, "\(result.output)\(result.error)")
        expectResults(result.output)
        if language == "c" { #expect(result.output.contains("all tests passed\n")) }
        let journey = try Journey(
            commands,
            build: #require(differences["the build"]?.own),
            test: #require(differences["its tests"]?.own),
            marks: String(decoding: File.read(folder.file("marks")), as: UTF8.self)
        )
        print(journey.account(of: language))
        // The time that the machine takes depends on what else it does.
        let processor = try journey.processorTimeUntilFirstRunOfInstalled
        #expect(processor < .seconds(180), "\(journey.account(of: language))")
        try expectScript(commands, in: folder)
    }

    /// What `ci.sh` does but its tests, which are also tests of this package, and the checks of long runs, which are
    /// those of the journey in Swift.
    @Test func `A new app for iOS is built, passes the checks of short runs, and runs`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let result = try await shell(
            """
            export XDG_CACHE_HOME="$PWD/cache"
            bghost plugin new photo-upload --language ios
            grep -v -e '^swift test$' -e '--only-failed .build' photo-upload/ci.sh >photo-upload/short.sh
            sh photo-upload/short.sh
            bghost plugin pack photo-upload --json >pack.json
            mkdir host && echo '{"version": 1}' >host/tasks.json
            bghost plugin install *.bghost --allow-unsigned --yes --config host/tasks.json
            bghost check --config host/tasks.json
            """,
            in: folder
        )
        try #require(result.exitCode == 0, "\(result.output)\(result.error)")
        #expect(result.output.contains("this bghost can load it"), "\(result.output)")
        #expect(count("passes at strictness 10", in: result.output) == 1, "\(result.output)")
        let task = "org.example.photo-upload.primes"
        #expect(result.output.contains("✓ \(task) succeeded"), "\(result.output)")
        let packed = String(decoding: try File.read(folder.file("pack.json")), as: UTF8.self)
        #expect(try JSONReader.parse(packed)["warnings"]?.array?.isEmpty == true, "\(packed)")

        let daemon = try TestDaemon(manifest: folder.file("host/tasks.json"), folder: folder)
        let run = try daemon.command(["trigger", task, "--wait", "--json"])
        #expect(run.exitCode == 0, "\(run.output)\(run.error)")
        let record = try JSONReader.parse(run.output)["run"]
        #expect(record?["progress"]?["phase"]?.string == "counting", "\(run.output)")
        #expect(daemon.stop() == 0)
    }

    private func expectResults(_ output: String) {
        // The results of the runs of the page: by default, and as the page shows it.
        #expect(output.contains("  {\"count\":78498,\"largest\":999983}\n"))
        #expect(output.contains("  {\"count\":25,\"largest\":97}\n"))
        #expect(page.contains("  {\"count\":25,\"largest\":97}"))
        #expect(output.contains("cancelledClean"))
        #expect(count("passes at strictness 10", in: output) == 2, "\(output)")
        // In the daemon of the author, and in the other host before and after the update.
        #expect(count("✓ org.example.hello.primes succeeded", in: output) == 3, "\(output)")
        #expect(output.contains("signed by ../hello.key.pub"), "\(output)")
        #expect(output.contains("✓ hello 0.1.0 is installed: tasks.d/bundle-hello.json"))
        // Both packs, without a warning: the library needs nothing that only this machine has.
        let packs = output.split(separator: "\n> ").filter { $0.hasPrefix("bghost plugin pack ") }
        #expect(packs.count == 2)
        for pack in packs {
            #expect(pack.contains(", not signed\n") && !pack.contains("\n! "), "\(pack)")
        }
        // The update asks, without consent and with it.
        #expect(count("This needs your consent: it asks for more.", in: output) == 2, "\(output)")
        #expect(output.contains("+ network: the daemon speaks to example.org:443 for it"))
        #expect(output.contains("✓ hello 0.2.0 is installed: tasks.d/bundle-hello.json"))
        #expect(output.contains("✓ hello 0.2.0 is removed"), "\(output)")
        #expect(output.hasSuffix("> kill $!\n"), "\(output)")
        #expect(count("no bundle is installed", in: output) == 1, "\(output)")
    }

    /// `ci.sh` has the page's commands, but for the parameters of its one run.
    private func expectScript(_ commands: [String], in folder: TemporaryDirectory) throws {
        let path = folder.file("hello/ci.sh")
        #expect(access(path, X_OK) == 0)
        let lines = String(decoding: try File.read(path), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        let known = ["set ", "cd ", "BGHOST_SDK=", "export BGHOST_SDK", "#", "bghost plugin run "]
        let own = lines.filter { line in !known.contains { line.hasPrefix($0) } }
        #expect(own.count >= 4 && Set(own).isSubset(of: commands), "\(own)")
        #expect(lines.filter { $0.hasPrefix("bghost plugin run ") }.count == 1)
    }

    private func count(_ text: String, in output: String) -> Int {
        output.split(separator: text, omittingEmptySubsequences: false).count - 1
    }

    // MARK: Commands

    /// A part of the commands that differs between languages.
    private struct Difference {
        var swift: String
        /// That of the other language; `nil` if it has none.
        var own: String?
    }

    /// The page's table of what differs, by its first column.
    private func differences(of language: String) throws -> [String: Difference] {
        let rows = page.filter { $0.hasPrefix("| ") }.map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        }
        let head = try #require(rows.firstIndex { $0.first == "" && $0.contains("`swift`") })
        let column = try #require(rows[head].firstIndex(of: "`\(language)`"))
        func code(_ cell: String) -> String? {
            cell.first == "`" ? String(cell.dropFirst().dropLast()) : nil
        }
        var differences: [String: Difference] = [:]
        for row in rows[(head + 2)...] {
            differences[row[0]] = try Difference(
                swift: #require(code(row[1])),
                own: code(row[column])
            )
        }
        #expect(differences.count == 4)
        return differences
    }

    /// The lines of the blocks of shell commands, in another language.
    private func commands(_ differences: [String: Difference]) throws -> [String] {
        var commands: [String] = []
        var isInside = false
        for line in page {
            if line.hasPrefix("```") {
                isInside = line == "```sh"
            } else if isInside {
                commands.append(String(line))
            }
        }
        for difference in differences.values {
            #expect(commands.contains { $0.contains(difference.swift) }, "\(difference.swift)")
            let own = try #require(difference.own)
            commands = commands.map { $0.replacing(difference.swift, with: own) }
        }
        return commands
    }

    /// A script that runs the commands, and takes the time after each.
    private func script(_ commands: [String]) -> String {
        var lines = [
            "export XDG_CACHE_HOME=\"$PWD/cache\"", "trap 'kill $! 2>/dev/null || true' EXIT",
            "marks=\"$PWD/marks\"", "mark() { { date +%s%N; times; } >>\"$marks\"; }", "mark",
        ]
        for command in commands {
            lines.append("echo '> '\(quoted(command))")
            let parts = command.split(separator: "# exits ")
            if parts.count == 2 {
                lines.append("code=0; \(parts[0]) || code=$?; [ $code = \(parts[1]) ]")
            } else {
                lines.append(command)
            }
            if command == "kill $!" { lines.append("wait $!") }
            lines.append("mark")
        }
        return lines.joined(separator: "\n")
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

/// The times of the page's commands.
private struct Journey {
    /// A command with what it took.
    private struct Entry {
        var command: String
        var time: Duration
        /// Of the processor, with its children that have ended.
        var processorTime: Duration
    }

    /// The steps, each with the beginning of its first command, and the time that the design gives a newcomer's
    /// plugin for it.
    private let steps: [(name: String, command: String, target: Duration?)]
    private let entries: [Entry]
    private let test: String

    /// - Parameter marks: for each command and for the begin, the nanoseconds of a clock and what `times` prints.
    init(_ commands: [String], build: String, test: String, marks: String) throws {
        self.test = test
        steps = [
            ("new", "bghost plugin new", .seconds(1)), ("build", build, .seconds(10)),
            ("run", "bghost plugin run", .seconds(1)), ("test", test, .seconds(10)),
            ("check", "bghost plugin check", .seconds(15)),
            ("pack", "bghost plugin pack", .seconds(3)),
            ("sign", "bghost plugin sign", .seconds(1)),
            ("install", "bghost plugin install", .seconds(5)), ("trigger", "bghost trigger", nil),
            ("update", "bghost plugin update", nil), ("remove", "bghost plugin remove", nil),
        ]
        let lines = marks.split(separator: "\n")
        var last: (time: Duration, processorTime: Duration)?
        var found: [(Duration, Duration)] = []
        for index in stride(from: 0, to: lines.count, by: 3) {
            let time = Duration.nanoseconds(try #require(Int64(lines[index])))
            let used = try Self.seconds(lines[index + 1]) + Self.seconds(lines[index + 2])
            if let last { found.append((time - last.time, used - last.processorTime)) }
            last = (time, used)
        }
        try #require(found.count == commands.count)
        entries = zip(commands, found).map {
            Entry(command: $0, time: $1.0, processorTime: $1.1)
        }
    }

    /// The sum of a line of `times`: `0m0.030000s 1m0.010000s`.
    private static func seconds(_ line: Substring) throws -> Duration {
        try line.split(separator: " ").reduce(.zero) { sum, text in
            let parts = text.dropLast().split(separator: "m")
            try #require(parts.count == 2)
            let (minutes, seconds) = (Double(parts[0]), Double(parts[1]))
            return try sum + .seconds(#require(minutes)) * 60 + .seconds(#require(seconds))
        }
    }

    /// From an installed program to a signed plugin that ran in another host, without the tests, which are not
    /// needed for that: those in Swift build a host.
    var processorTimeUntilFirstRunOfInstalled: Duration {
        get throws {
            let install = entries.firstIndex { $0.command.hasPrefix("bghost plugin install") }
            let rest = entries[try #require(install)...]
            let run = try #require(rest.firstIndex { $0.command.hasPrefix("bghost trigger") })
            return entries[...run].filter { $0.command != test }
                .reduce(.zero) { $0 + $1.processorTime }
        }
    }

    /// The times in one line, each beside its target.
    func account(of language: String) -> String {
        var parts: [String] = []
        var sums = (time: Duration.zero, target: Duration.zero)
        for step in steps {
            guard
                let entry = entries.first(where: { $0.command.hasPrefix(step.command) })
            else {
                continue
            }
            var part = "\(step.name) \(rounded(entry.time))"
            if let target = step.target {
                part += " (target \(rounded(target)))"
                sums.time += entry.time
                sums.target += target
            }
            parts.append(part)
        }
        let all = entries.reduce(.zero) { $0 + $1.time }
        let used = entries.reduce(.zero) { $0 + $1.processorTime }
        return "getting started in \(language): " + parts.joined(separator: ", ")
            + "; those with a target \(rounded(sums.time)) (target \(rounded(sums.target)));"
            + " all commands \(rounded(all)), \(rounded(used)) of the processor"
    }

    private func rounded(_ time: Duration) -> String {
        let milliseconds =
            time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
        return "\(Double(milliseconds / 10) / 100) s"
    }
}
