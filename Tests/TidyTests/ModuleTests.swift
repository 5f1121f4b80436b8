// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// The modules below Sources/ and SDK/ against `ModuleTable`.
@Suite struct ModuleTests {
    /// The Swift files of the modules that ship, by module.
    private static func sources() throws -> [String: [SourceTree.File]] {
        let files =
            try SourceTree.files(in: ["Sources", "SDK/Sources"], ending: ".swift")
        return Dictionary(grouping: files) { file in
            let parts = file.path.split(separator: "/")
            return String(parts[parts[0] == "SDK" ? 2 : 1])
        }
    }

    /// The modules that a file imports.
    private static func imports(of file: SourceTree.File) -> [String] {
        file.lines.compactMap { line in
            // The expression costs half a millisecond for each of 75,000 lines. An import begins its line.
            guard let first = line.utf8.first, "@fip".utf8.contains(first),
                let found = line.wholeMatch(
                    of:
                        /(?:@\w+(?:\([^)]*\))? )*(?:(?:package|internal|public|private|fileprivate) )?import (?:(?:struct|enum|class|func|typealias|protocol|let|var) )?(\w+).*/
                )
            else { return nil }
            return String(found.output.1)
        }
    }

    @Test func `Each import is in the table, and each row is imported`() throws {
        let sources = try Self.sources()
        let names = Set(ModuleTable.modules.map(\.name))
        #expect(names.count == ModuleTable.modules.count)
        #expect(Set(sources.keys).isSubset(of: names))
        for module in ModuleTable.modules {
            var found: Set<String> = []
            for file in sources[module.name] ?? [] {
                for name in Self.imports(of: file) where names.contains(name) {
                    found.insert(name)
                    #expect(
                        module.imports.contains(name),
                        "\(file.path) imports \(name): add it to ModuleTable, or do without"
                    )
                }
            }
            #expect(found.sorted() == module.imports, "\(module.name)")
        }
    }

    @Test func `Each module comes after those that it imports`() {
        var earlier: Set<String> = []
        for module in ModuleTable.modules {
            for name in module.imports {
                #expect(earlier.contains(name), "\(module.name) comes before \(name)")
            }
            earlier.insert(module.name)
        }
    }

    /// Packages of authors import them, on machines without the libraries of the daemon.
    @Test(arguments: ["BackgroundTasksTesting", "SwiftUI", "UserNotifications"])
    func `Modules for authors need no system library`(module: String) {
        let imports = Dictionary(
            uniqueKeysWithValues: ModuleTable.modules.map { ($0.name, $0.imports) }
        )
        var found: Set<String> = []
        var next = [module]
        while let name = next.popLast() {
            if found.insert(name).inserted { next += imports[name] ?? [] }
        }
        #expect(found.count > 1)
        #expect(found.isDisjoint(with: ["CFFI", "CSQLite", "CSodium"]), "\(found.sorted())")
    }

    /// SDK/TestHost has links to them.
    @Test func `The SDK's package has the modules of the test host`() throws {
        let manifest = try #require(try SourceTree.files(in: ["SDK/Package.swift"]).first).text
        let links = try BghostTestSupport.File.list(PackageRoot.path + "/SDK/TestHost").sorted()
        var found: [String] = []
        for call in manifest.matches(of: /\n {8}host\(([^)]*)\)/) {
            let names = call.output.1.matches(of: /"(\w+)"/).map { String($0.output.1) }
            let name = try #require(names.first)
            found.append(name)
            let module = ModuleTable.modules.first { $0.name == name }
            #expect(names.dropFirst().sorted() == module?.imports, "\(name)")
        }
        #expect(found.count > 5 && (found + ["CBghostSystem"]).sorted() == links)
    }

    @Test func `No module exceeds its size limit`() throws {
        for (module, files) in try Self.sources() {
            let count = files.reduce(0) { $0 + $1.lines.count - 1 }
            #expect(count <= ModuleTable.linesMax, "\(module)")
        }
    }

    @Test func `Package.swift depends on what is imported`() throws {
        let manifest = try #require(try SourceTree.files(in: ["Package.swift"]).first).text
        let names = Set(ModuleTable.modules.map(\.name))
        for module in ModuleTable.modules {
            // System libraries have no dependencies.
            guard
                let start = manifest.firstRange(of: "arget(name: \"\(module.name)\"")
                    ?? manifest.firstRange(of: "arget(\n            name: \"\(module.name)\"")
            else { continue }
            let rest = manifest[start.upperBound...]
            // The next target, or the call of a function that makes one.
            let end = rest.firstRange(of: /\n {8}[.a-z]/)?.lowerBound ?? rest.endIndex
            // Behind a product's name come its package's.
            let own = rest[..<end].replacing(/\.product\([^)]*\)/, with: "")
            let found = own.matches(of: /"([A-Za-z_-]+)"/).map { String($0.output.1) }
            #expect(found.filter(names.contains).sorted() == module.imports, "\(module.name)")
        }
    }

    @Test func `The page of the modules has the same table`() throws {
        let page = try #require(try SourceTree.files(in: ["docs/MODULES.md"]).first)
        let names = Set(ModuleTable.modules.map(\.name))
        var rows: [String: [String]] = [:]
        for line in page.lines {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 5, let name = cells[1].firstMatch(of: /^ `([A-Za-z_-]+)` $/),
                names.contains(String(name.output.1))
            else { continue }
            // The page leaves the prefix away.
            rows[String(name.output.1)] = cells[3].matches(of: /[A-Za-z]+/)
                .map { String($0.output) }.filter { $0 != "nothing" }
                .map { names.contains("Bghost\($0)") ? "Bghost\($0)" : $0 }.sorted()
        }
        for module in ModuleTable.modules {
            #expect(rows[module.name] == module.imports, "\(module.name)")
        }
    }
}
