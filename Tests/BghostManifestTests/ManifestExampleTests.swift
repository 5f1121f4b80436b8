// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostManifest
import BghostModel
import BghostTestSupport
import Testing

/// The manifests, and parts of them, that the pages show.
///
/// A block may be a whole manifest, members of one, members of `host`, or tasks by their names. What it
/// refers to and does not show, such as a plugin, is added before the reader sees it.
@Suite(.timeLimit(.minutes(5))) struct ManifestExampleTests {
    /// The pages that show manifests.
    private static let pages = [
        "README.md", "docs/FLEET.md", "docs/FUNCTIONS.md", "docs/HANDLERS.md", "docs/ISOLATION.md",
        "docs/NOTIFICATIONS.md", "docs/OPERATION.md", "docs/SCHEDULING.md", "docs/TRANSFERS.md",
    ]

    /// Its blocks are answers of the control API.
    private static let withoutManifests: Set<String> = ["docs/API.md"]

    @Test(arguments: pages)
    func `Each manifest of a page is read without a diagnostic`(page: String) throws {
        let blocks = try Self.blocks(of: page)
        try #require(!blocks.isEmpty, "\(page) has no manifest")
        for block in blocks {
            let diagnostics = try Self.diagnostics(of: block)
            #expect(diagnostics.isEmpty, "\(page): \(block)\n\(diagnostics)")
        }
    }

    @Test func `Each page with such a block is checked`() throws {
        let names = try File.list(PackageRoot.path + "/docs").filter { $0.hasSuffix(".md") }
        #expect(names.count > 15)
        let found = try Set(["README.md"] + names.map { "docs/" + $0 }).filter {
            try !Self.blocks(of: $0).isEmpty
        }
        #expect(found.subtracting(Self.withoutManifests) == Set(Self.pages))
    }

    // MARK: - Blocks

    private static func blocks(of page: String) throws -> [String] {
        let text = String(decoding: try File.read("\(PackageRoot.path)/\(page)"), as: UTF8.self)
        var blocks: [String] = []
        var lines: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            switch (lines, line) {
            case (nil, "```json"), (nil, "```jsonc"): lines = []
            case (let block?, "```"):
                blocks.append(block.joined(separator: "\n"))
                lines = nil
            default: lines?.append(line)
            }
        }
        return blocks
    }

    /// What the reader says of a block at its place in a manifest.
    private static func diagnostics(of block: String) throws -> [String] {
        // A page shortens a digest.
        let digest = String(repeating: "0af9", count: 16)
        let text = try whole(block.replacing("\"…\"", with: "\"\(digest)\""))
        let added = try missing(in: JSONReader.parse(text, dialect: .commented))
        let reader = ManifestReader(
            manifestDirectory: "/etc/bghost",
            resolveSecret: { _ in .success("secret") },
            zones: ManifestFixture.zones
        )
        let (manifest, diagnostics) = reader.read(
            ManifestFile(name: "tasks.json", bytes: Array(text.utf8)),
            dropIns: [ManifestFile(name: "added.json", bytes: Array(added.utf8))]
        )
        return diagnostics.map { "\($0)" } + (manifest == nil ? ["no manifest"] : [])
    }

    private static func whole(_ block: String) throws -> String {
        let isObject = block.hasPrefix("{")
        let node = try JSONReader.parse(isObject ? block : "{ \(block)\n}", dialect: .commented)
        let first = try #require(node.object?.first?.key, "an empty block")
        if isObject {
            guard node["version"] == nil else { return block }
            return "{ \"version\": 1," + block.dropFirst()
        }
        if ManifestKeys.root.key(first) != nil { return "{ \"version\": 1, \(block)\n}" }
        let section = ManifestKeys.host.key(first) == nil ? "tasks" : "host"
        return "{ \"version\": 1, \"\(section)\": { \(block)\n} }"
    }

    /// A drop-in with the plugins and tasks to which a manifest refers and that it lacks.
    private static func missing(in root: JSONNode) -> String {
        let tasks = root["tasks"]?.object ?? []
        let users = tasks + (root["sessions"]?.object ?? [])
        let followers = tasks.flatMap { $0.value["then"]?.array ?? [] }
            .compactMap { $0.string ?? $0["task"]?.string }
            .filter { name in !tasks.contains { $0.key == name } }
        let owners = users.compactMap { $0.value["plugin"]?.string } + ["other"]
        let plugins = Set(owners).filter { root["plugins"]?[$0] == nil }.sorted()
        func members(_ names: [String], _ value: String) -> String {
            names.map { "\"\($0)\": \(value)" }.joined(separator: ", ")
        }
        return """
            { "version": 1,
              "plugins": { \(members(plugins, #"{ "library": "libOther.so" }"#)) },
              "tasks": { \(members(followers, #"{ "plugin": "other" }"#)) } }
            """
    }

    // MARK: - The test of these tests

    @Test(arguments: [
        #"{ "version": 1, "plugins": { "p": { "librery": "p.so" } } }"#,
        #""tasks": { "t": { "plugin": "p", "evry": "1h" } }"#,
        #""dashboard": { "listen": "nowhere" }"#,
        #""t": { "plugin": "p", "every": "1 hour" }"#,
        #"{ "host": { "slots": "many" } }"#,
        #""t": { "plugin": "p", "then": ["Not an identifier!"] }"#,
    ])
    func `A wrong example is found`(block: String) throws {
        #expect(try !Self.diagnostics(of: block).isEmpty)
    }
}
