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
    func committedFileIsGenerated() throws {
        let path = PackageRoot.path + "/Config/tasks.schema.json"
        let generated = ManifestSchema.json()
        if getenv("BGHOST_WRITE_SCHEMA") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_SCHEMA=1 to write the file anew")
    }

    /// The schema is walked as an editor would, and every object in it is closed and explained.
    @Test
    func describesEveryKey() throws {
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
        ("plugins", "limits/result", "\"64KiB\""), ("tasks", "kind", "\"refresh\""),
        ("tasks", "overlap", "\"queue\""), ("tasks", "priority", "500"),
        ("tasks", "submitAtStart", "false"), ("tasks", "parameters", "{}"), ("tasks", "every", nil),
        ("tasks", "limits/runtime", nil),
    ])
    func tellsDefaults(section: String, key: String, value: String?) throws {
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
    func sampleManifestIsGood(_ path: String) throws {
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
