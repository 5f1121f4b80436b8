// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostManifest
import BghostModel
import BghostTestSupport
import Glibc
import Testing

@Suite
struct ManifestSchemaTests {
    /// The file is written anew after a change of the table by the following.
    ///
    /// `BGHOST_WRITE_SCHEMA=1 swift test --disable-xctest --filter ManifestSchemaTests`
    @Test
    func `Committed file is generated`() throws {
        let path = PackageRoot.path + "/Config/tasks.schema.json"
        let generated = ManifestSchema.json()
        if getenv("BGHOST_WRITE_SCHEMA") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_SCHEMA=1 to write the file anew")
    }

    /// The words with which the fuzzer makes manifests; written with the schema.
    @Test
    func `Fuzz dictionary has each key and word`() throws {
        let path = PackageRoot.path + "/Fuzz/Dictionaries/manifest.dict"
        var words: Set<String> = []
        collect(try JSONReader.parse(ManifestSchema.json()), &words)
        #expect(words.isSuperset(of: ["onChange", "learnsUse", "lowBattery", "in-process"]))
        let generated =
            (words.sorted().map { #""\"\#($0)\"""# } + Self.syntax).joined(separator: "\n") + "\n"
        if getenv("BGHOST_WRITE_SCHEMA") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_SCHEMA=1 to write the file anew")
    }

    /// What is no key and no word: the syntax, secrets, comments, an escape, and values with a form of
    /// their own.
    private static let syntax = [
        #""{""#, #""}""#, #""[""#, #""]""#, #"":""#, #"",""#, #""\"1m30s\"""#, #""\"64MiB\"""#,
        #""\"50%\"""#, #""${env:""#, #""${file:""#, #""${credential:""#, #""${manifest:dir}""#,
        #""//""#, #""/*""#, #""*/""#, #""\\u001b""#, #""\"Europe/Berlin\"""#,
        #""\"0 3 * * *\"""#,
    ]

    /// Collects the keys and the words of a part of the schema.
    private func collect(_ node: JSONNode, _ words: inout Set<String>) {
        for property in node["properties"]?.object ?? [] {
            words.insert(property.key)
            collect(property.value, &words)
        }
        for word in node["enum"]?.array ?? [] { if let word = word.string { words.insert(word) } }
        for choice in node["anyOf"]?.array ?? [] { collect(choice, &words) }
        for entry in node["patternProperties"]?.object ?? [] { collect(entry.value, &words) }
    }

    /// Each default of the schema reads as the same manifest as without the key.
    @Test
    func `Each default is the readers`() throws {
        let schema = try JSONReader.parse(ManifestSchema.json())
        var seen = 0
        for section in ["plugins", "tasks", "sessions"] {
            let entry = schema["properties"]?[section]?["patternProperties"]?.object?.first?.value
            for property in try #require(entry)["properties"]?.object ?? [] {
                if let value = property.value["default"] {
                    try expectDefault(section, "\"\(property.key)\": \(value.text)")
                    seen += 1
                }
                for inner in property.value["properties"]?.object ?? [] {
                    guard let value = inner.value["default"] else { continue }
                    // A policy is needed beside the other keys of `retry`.
                    let beside =
                        property.key == "retry" && inner.key != "policy"
                        ? "\"policy\": \"exponential\", " : ""
                    try expectDefault(
                        section,
                        "\"\(property.key)\": { \(beside)\"\(inner.key)\": \(value.text) }",
                        without: beside.isEmpty
                            ? "\"x-none\": 0" : "\"\(property.key)\": { \(beside)\"x-none\": 0 }"
                    )
                    seen += 1
                }
            }
        }
        #expect(seen > 40)
    }

    private func expectDefault(
        _ section: String,
        _ fields: String,
        without others: String = "\"x-none\": 0"
    ) throws {
        func read(_ fields: String) -> Manifest? {
            func given(_ name: String) -> String { section == name ? ", \(fields)" : "" }
            return ManifestFixture.read(
                """
                { "version": 1, "plugins": { "p": { "library": "p.so"\(given("plugins")) } },
                  "tasks": { "t": { "plugin": "p", "calendar": "0 3 * * *"\(given("tasks")) } },
                  "sessions": { "s": { "plugin": "p"\(given("sessions")) } } }
                """
            ).manifest
        }
        let written = try #require(read(fields), "\(section): \(fields)")
        #expect(written == read(others), "\(section): \(fields)")
    }

    /// The schema is walked as an editor would, and every object in it is closed and explained.
    @Test
    func `Describes every key`() throws {
        let schema = try JSONReader.parse(ManifestSchema.json())
        #expect(schema["$schema"]?.string == "https://json-schema.org/draft/2020-12/schema")
        var seen = 0
        try check(schema, "", &seen)
        #expect(seen > 50)
    }

    private func check(_ node: JSONNode, _ path: String, _ seen: inout Int) throws {
        for property in node["properties"]?.object ?? [] {
            seen += 1
            let place = "\(path)/\(property.key)"
            let summary = try #require(property.value["description"]?.string, "\(place)")
            #expect(summary.hasSuffix("."), "\(place)")
            try check(property.value, place, &seen)
            for choice in property.value["anyOf"]?.array ?? [] { try check(choice, place, &seen) }
            for (index, entry) in (property.value["patternProperties"]?.object ?? []).enumerated()
            where entry.value.object != nil {
                try check(entry.value, "\(place)/\(index)", &seen)
            }
        }
        if node["properties"] != nil {
            #expect(node["additionalProperties"]?.bool == false, "\(path)")
            #expect(node["patternProperties"]?["^(x-|\\$schema$)"]?.bool == true, "\(path)")
        }
    }

    /// The defaults that the schema tells editors are those that the reader takes.
    @Test(arguments: [
        ("plugins", "isolation", "\"worker\""), ("plugins", "runsPerWorker", "1"),
        ("plugins", "prestart", "0"),
        ("plugins", "config", "{}"), ("plugins", "permissions/network", "[]"),
        ("plugins", "permissions/directNetwork", "false"), ("plugins", "permissions/read", "[]"),
        ("plugins", "permissions/write", "[]"), ("plugins", "permissions/submit", "[]"),
        ("plugins", "permissions/notify", "false"), ("plugins", "limits/memory", "\"256MiB\""),
        ("plugins", "limits/cpu", nil), ("plugins", "limits/processes", "1"),
        ("plugins", "limits/descriptors", "64"), ("plugins", "limits/output", "\"64KiB\""),
        ("plugins", "maxPending/refresh", "1"), ("plugins", "maxPending/processing", "10"),
        ("plugins", "limits/result", "\"64KiB\""), ("plugins", "limits/data", "\"1GiB\""),
        ("plugins", "limits/files", "100000"), ("tasks", "kind", "\"refresh\""),
        ("tasks", "overlap", "\"queue\""), ("tasks", "priority", "500"),
        ("tasks", "submitAtStart", "false"), ("tasks", "parameters", "{}"), ("tasks", "every", nil),
        ("tasks", "limits/runtime", nil),
    ])
    func `The schema tells defaults`(section: String, key: String, value: String?) throws {
        let schema = try JSONReader.parse(ManifestSchema.json())
        let entry = schema["properties"]?[section]?["patternProperties"]?.object?.first?.value
        let pointer = "/properties/" + key.split(separator: "/").joined(separator: "/properties/")
        let property = try #require(entry?.find(pointer: pointer))
        #expect(property["default"]?.text == value)

        // Written out, a default must read as the same manifest as without it.
        guard let value else { return }
        func read(_ fields: String) -> Manifest? {
            let plugin = section == "plugins" ? ", \(fields)" : ""
            let task = section == "tasks" ? ", \(fields)" : ""
            return ManifestFixture.read(
                """
                { "version": 1, "plugins": { "p": { "library": "p.so"\(plugin) } },
                  "tasks": { "t": { "plugin": "p"\(task) } } }
                """
            ).manifest
        }
        let parts = key.split(separator: "/")
        let last = "\"\(parts[parts.count - 1])\": \(value)"
        let fields = parts.count == 2 ? "\"\(parts[0])\": { \(last) }" : last
        let written = try #require(read(fields))
        #expect(written == read("\"x-none\": 0"))
    }

    /// Every manifest that ships as a sample is read.
    @Test(arguments: try samples())
    func `Sample manifest is good`(_ path: String) throws {
        let bytes = try File.read(PackageRoot.path + "/" + path)
        let (manifest, diagnostics) = ManifestFixture.reader(unresolved: .warning)
            .read(ManifestFile(name: path, bytes: bytes))
        let text = diagnostics.map { $0.rendered(color: false) }.joined(separator: "\n")
        #expect(manifest != nil, "\(text)")
    }

    private static func samples() throws -> [String] {
        let config = try File.list(PackageRoot.path + "/Config")
            .filter { $0.hasSuffix(".json") && $0 != "tasks.schema.json" }
            .map { "Config/" + $0 }
        return config + ["Examples/functions/tasks.json"]
    }
}
