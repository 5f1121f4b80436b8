// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

@testable import BghostBundle

/// The keys of manifests, each of which a bundle may ask for or may not.
@Suite struct ManifestKeyTests {
    /// What only an operator decides, or `install` writes.
    static let operatorKeys = [
        "library", "sha256", "isolation", "prestart", "override", "signedBy", "libraries",
        "onChange",
    ]
    private let plugin: JSONNode

    init() throws {
        let path = PackageRoot.path + "/Config/tasks.schema.json"
        let schema = try JSONReader.parse(String(decoding: try File.read(path), as: UTF8.self))
        let plugins = schema["properties"]?["plugins"]?["patternProperties"]
        plugin = try #require(plugins?.object?.first?.value["properties"])
    }

    private func keys(_ section: JSONNode?) throws -> [String] {
        try #require(section?.object).map(\.key)
    }

    @Test func `A new key of plugins is either for bundles or for operators`() throws {
        #expect(
            Set(try keys(plugin)) == Set(GrantList.pluginKeys + Self.operatorKeys),
            "decide in GrantList.pluginKeys whether a bundle may ask for it"
        )
    }

    @Test func `Each permission is shown in words`() throws {
        for key in try keys(plugin["permissions"]?["properties"]) {
            let grant = Grant(["plugins", "p", "permissions", key], JSONNode(.string("x")))
            #expect(grant.text != "x", "Grant.text has no words for \(key)")
            #expect(grant.subject == key)
        }
    }

    /// A limit that is not compared by its value would let an update raise it without consent.
    @Test func `Each limit that is raised needs consent, and each that is lowered does not`() throws
    {
        let values = [
            "memory": ["64MiB", "65MiB"], "cpu": ["1s", "2s"], "cpuQuota": ["50%", "60%"],
            "processes": ["2", "3"], "descriptors": ["64", "65"], "output": ["1KiB", "2KiB"],
            "result": ["1KiB", "2KiB"], "data": ["1MiB", "2MiB"], "files": ["100", "101"],
        ]
        for key in try keys(plugin["limits"]?["properties"]) {
            let pair = try #require(values[key], "a limit without a value here: \(key)")
            let lists = try pair.map { value in
                var description = SampleBundle.description
                let text = Int(value) == nil ? "\"\(value)\"" : value
                description.plugin = SampleBundle.node(#"{"limits": {"\#(key)": \#(text)}}"#)
                return try GrantList(description)
            }
            let raised = try GrantDifference(from: lists[0], to: lists[1], SampleBundle.zones)
            #expect(raised.more.count == 1 && raised.less.isEmpty, "\(key): \(raised)")
            let lowered = try GrantDifference(from: lists[1], to: lists[0], SampleBundle.zones)
            #expect(lowered.more.isEmpty && lowered.less.count == 1, "\(key): \(lowered)")
        }
    }
}
