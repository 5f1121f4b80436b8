// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Objects of the daemon that several owners read: one owner writes each of their fields.
@Suite struct OwnershipTests {
    /// A shared class, the file that declares it, and how variables of it are called.
    private struct Shared: CustomTestStringConvertible {
        let name: String
        let path: String
        let variables: Set<Substring>
        /// A field with its owner, which shows that writes are found.
        let example: (field: String, owner: String)

        var testDescription: String { name }
    }

    private static let shared = [
        Shared(
            name: "PluginSlot",
            path: "Sources/BghostHost/Plugins/PluginSlot.swift",
            variables: ["plugin", "slot"],
            example: ("problem", "PluginRegistry")
        ),
        Shared(
            name: "ExecutorSlots",
            path: "Sources/BghostHost/Workers/ExecutorSlots.swift",
            variables: ["executor", "worker"],
            example: ("state", "WorkerPool")
        ),
        Shared(
            name: "Worker",
            path: "Sources/BghostHost/Workers/Worker.swift",
            variables: ["worker"],
            example: ("killedFor", "WorkerPool")
        ),
        Shared(
            name: "ActiveRun",
            path: "Sources/BghostHost/Runs/RunTable.swift",
            variables: ["run", "begun", "runs"],
            example: ("record", "RunSupervisor")
        ),
    ]

    /// Types that belong to an owner with another name.
    private static let owners = [
        "ExecutorSlots": "WorkerPool", "InProcessExecutor": "WorkerPool", "Worker": "WorkerPool",
        "PluginSlot": "PluginRegistry", "PluginTable": "PluginRegistry",
        "RunTable": "RunSupervisor",
    ]

    private static func owner(of path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        let name = String(file.prefix { $0 != "+" && $0 != "." })
        return owners[name] ?? name
    }

    /// The stored properties of a class that are variables.
    private static func fields(of shared: Shared) throws -> Set<Substring> {
        let file = try #require(try SourceTree.files(in: [shared.path]).first)
        var fields: Set<Substring> = []
        var isInside = false
        for line in file.lines {
            if line.hasPrefix("final class \(shared.name)") { isInside = true }
            if line == "}" { isInside = false }
            guard isInside, !line.hasSuffix("{"), !line.hasSuffix("}"),
                let found = line.firstMatch(of: /^    var (\w+)\b/)
            else { continue }
            fields.insert(found.output.1)
        }
        return fields
    }

    /// A variable and the field that a line changes, as in `run.usage.cpu = 1`.
    private static var write: Regex<(Substring, Substring, Substring)> {
        #/
            (\w+) (?: \([^()]*\) | \[[^\[\]]*\] )? [?!]? \. (\w+)
            (?: [?!]? \. \w+ | \[[^\[\]]*\] )*
            (?: \ [\-+&]*=\  | [?!]? \. (?: append | insert | remove\w* | popLast ) \( )
        /#
    }

    @Test(arguments: shared)
    private func `One owner writes each field`(shared: Shared) throws {
        let fields = try Self.fields(of: shared)
        #expect(fields.count > 10)
        var writers: [Substring: Set<String>] = [:]
        // Made once: the expressions are compiled when they are made.
        let (path, write) = (/\b\w+\.(plugin|executor|worker|run)\./, Self.write)
        for file in try SourceTree.files(in: ["Sources/BghostHost"], ending: ".swift") {
            for line in file.lines
            where shared.variables.contains(where: { line.contains($0) })
                && (line.contains("= ") || line.contains("("))
            {
                let line = line.replacing(path) { "\($0.output.1)." }
                for found in line.matches(of: write)
                where shared.variables.contains(found.output.1)
                    && fields.contains(found.output.2)
                {
                    writers[found.output.2, default: []].insert(Self.owner(of: file.path))
                }
            }
        }
        #expect(writers[Substring(shared.example.field)] == [shared.example.owner])
        for (field, owners) in writers where owners.count > 1 {
            Issue.record(
                "\(shared.name).\(field): \(owners.sorted()) write it; let one call the other"
            )
        }
    }
}
