// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// Names, references, paths and formats of one file.
@Suite
struct ManifestNameTests {
    typealias Bad = ManifestErrorTests.Bad

    private static func tasks(_ tasks: String) -> String {
        """
        { "version": 1,
          "plugins": { "p": { "library": "libp.so" } },
          "functions": { "f": { "library": "libc.so.6", "symbol": "abs", "signature": "int(int)" } },
          "tasks": { \(tasks) } }
        """
    }

    private static func plugin(_ fields: String) -> String { ManifestFixture.plugin(fields) }
    private static func host(_ fields: String) -> String { ManifestFixture.host(fields) }
    private static func task(_ fields: String) -> String { ManifestFixture.task(fields) }

    private static func library(_ library: String) -> String {
        "{ \"version\": 1, \"plugins\": { \"p\": { \"library\": \(library) } } }"
    }

    private static func grant(_ grant: String) -> String {
        plugin("\"permissions\": { \"network\": [ ▶\"\(grant)\" ] }")
    }

    private static func function(_ symbol: String, _ signature: String) -> String {
        """
        { "version": 1, "functions": { "f": { "library": "libc.so.6",
          "symbol": \(symbol), "signature": \(signature) } } }
        """
    }

    static let identifiers = [
        "", "a..b", ".a", "a.", "a b", "ä", "a*", "*", ".*", "a.*.*", "_a", "a/b",
    ]
    .map { Bad(.badIdentifier, tasks("▶\"\($0)\": { \"plugin\": \"p\" }")) }

    static let references = [
        Bad(
            .badIdentifier,
            tasks("▶\"\(String(repeating: "a", count: 129))\": { \"plugin\": \"p\" }")
        ),
        Bad(.badIdentifier, plugin("\"permissions\": { \"submit\": [ \"a.*\", ▶\"*.a\" ] }")),
        Bad(.definedTwice, tasks("\"t\": { \"plugin\": \"p\" }, ▶\"t\": { \"plugin\": \"p\" }")),
        Bad(
            .definedTwice,
            tasks(
                "\"t\": { \"plugin\": \"p\" },\n▶\"\\u0074\": { \"plugin\": \"p\", \"override\": true }"
            )
        ),
        Bad(
            .definedTwice,
            tasks("\"a.*\": { \"plugin\": \"p\" }, ▶\"a.*\": { \"plugin\": \"p\" }")
        ),
        Bad(
            .overlappingFamilies,
            tasks("▶\"a.b.*\": { \"plugin\": \"p\" }, \"a.*\": { \"plugin\": \"p\" }")
        ),
        Bad(
            .overlappingFamilies,
            tasks("\"a.*\": { \"plugin\": \"p\" }, ▶\"a.b.c.*\": { \"plugin\": \"p\" }")
        ),
        Bad(.notDefined, tasks("\"t\": { \"plugin\": ▶\"pp\" }"), label: "did you mean \"p\"?"),
        Bad(
            .notDefined,
            tasks("\"t\": { \"plugin\": ▶\"f\" }"),
            label: "this is a function: write \"function\""
        ),
        Bad(
            .notDefined,
            tasks("\"t\": { \"function\": ▶\"p\" }"),
            label: "this is a plugin: write \"plugin\""
        ),
        Bad(.pluginOrFunction, tasks("▶\"t\": {}")),
        Bad(.pluginOrFunction, tasks("\"t\": { \"plugin\": \"p\", ▶\"function\": \"f\" }")),
        Bad(.pluginOrFunction, tasks("\"t\": { \"function\": \"f\", ▶\"handler\": \"h\" }")),
        Bad(.nothingToOverride, tasks("\"t\": { \"plugin\": \"p\", ▶\"override\": true }")),
        Bad(
            .needsExactIdentifier,
            tasks("\"t.*\": { \"plugin\": \"p\", ▶\"submitAtStart\": true }")
        ),
        Bad(.needsExactIdentifier, tasks("\"t.*\": { \"plugin\": \"p\", ▶\"every\": \"1h\" }")),
        Bad(
            .nameCollision,
            """
            { "version": 1, "functions": {
              ▶"p": { "library": "libc.so.6", "symbol": "abs", "signature": "int(int)" } } }
            """.withPlugin
        ),
        Bad(.badName, "{ \"version\": 1, \"plugins\": { ▶\"..\": { \"library\": \"p.so\" } } }"),
        Bad(.badName, "{ \"version\": 1, \"plugins\": { ▶\"a/b\": { \"library\": \"p.so\" } } }"),
        Bad(.badName, "{ \"version\": 1, \"plugins\": { ▶\"\": { \"library\": \"p.so\" } } }"),
        Bad(.badName, task("\"handler\": ▶\"a b\"")),
        Bad(.badName, function("▶\"2abs\"", "\"int(int)\"")),
        Bad(.badName, function("▶\"\"", "\"int(int)\"")),
        Bad(.badSignature, function("\"abs\"", "▶\"int(intt)\"")),
        Bad(.badSignature, function("\"abs\"", "▶\"\"")),
    ]

    static let formats = [
        Bad(
            .badDigest,
            plugin("\"sha256\": ▶\"9f2c…\""),
            label: "64 lower-case hex digits are needed"
        ),
        Bad(.badDigest, plugin("\"sha256\": ▶\"\(String(repeating: "a", count: 63))\"")),
        Bad(
            .badDigest,
            plugin("\"sha256\": ▶\"\(String(repeating: "A", count: 64))\""),
            label: "write it in lower case"
        ),
        Bad(.badPath, library("▶\"\"")), Bad(.badPath, library("▶\"a\\u0000b\"")),
        Bad(.badPath, library("▶\"~/p.so\""), label: "write the whole path"),
        Bad(.badPath, library("▶\"\(String(repeating: "a", count: 4096))\"")),
        Bad(.badReference, library("▶\"${env:HOME}/p.so\"")),
        Bad(.badPath, plugin("\"permissions\": { \"read\": [▶\"\"] }")),
        Bad(.badPath, host("\"stateDirectory\": ▶\"\"")),
        Bad(.badPath, host("\"stateDirectory\": ▶\"~\"")),
        Bad(
            .badPath,
            host("\"control\": ▶\"/run/c.sock\""),
            label: "did you mean `unix:/run/c.sock`?"
        ),
        Bad(.badPath, host("\"control\": ▶\"unix:\"")),
        Bad(.badPath, host("\"control\": ▶\"127.0.0.1:80\"")),
        Bad(
            .badPath,
            host("\"control\": ▶\"unix:/\(String(repeating: "a", count: 107))\""),
            label: "at most 103, and 93 of its folder"
        ),
        Bad(
            .outOfRange,
            plugin("\"config\": ▶{ \"a\": \"\(String(repeating: "a", count: 65536))\" }")
        ),
    ]

    static let grants = [
        ("api.example.org", "did you mean `api.example.org:443`?"),
        ("https://api.example.org/v1", "did you mean `api.example.org:443`?"),
        ("http://localhost:8080", "did you mean `localhost:8080`?"),
        ("::1:80", nil), ("fe80::1", nil), ("2001:db8::1:443", nil),
        ("[::1]", "did you mean `[::1]:443`?"),
        ("[::g]:80", nil), ("[1.2.3.4]:80", nil), ("*:443", nil), ("a.*.org:443", nil),
        (":443", nil),
        ("a:0", nil), ("a:65536", nil), ("a:+80", nil), ("a:", nil), ("a:80-90", nil),
        ("-a.org:1", nil),
        ("a..org:1", nil), ("a.org.:1", nil), ("bücher.de:443", nil), ("256.1.1.1:80", nil),
        ("0x7f.1:80", nil), ("010.0.0.1:80", nil), ("127.1:80", nil), ("0x7F000001:80", nil),
        ("a.0x1:80", nil), ("*.1.2.3.4:80", nil),
        ("", nil),
        ("a b:80", nil), ("user@a.org:80", nil),
        ("\(String(repeating: "a", count: 64)).org:1", nil),
    ].map { Bad(.badNetworkGrant, grant($0.0), label: $0.1) }

    @Test(arguments: identifiers + references + formats + grants)
    func `Each bad name is named with its place`(_ bad: Bad) throws {
        try ManifestErrorTests().`Each error is named with its place`(bad)
    }

    @Test(arguments: [
        ("localhost:1", "localhost", 1), ("A.Example.ORG:65535", "a.example.org", 65535),
        ("*.Example.org:443", "*.example.org", 443), ("127.0.0.1:80", "127.0.0.1", 80),
        ("[::]:80", "::", 80), ("[2001:DB8:0:0:1:0:0:1]:80", "2001:db8::1:0:0:1", 80),
        ("[1:0:0:2:0:0:0:3]:80", "1:0:0:2::3", 80), ("[::ffff:1.2.3.4]:80", "::ffff:102:304", 80),
        ("[1:2:3:4:5:6:7::]:80", "1:2:3:4:5:6:7:0", 80),
        ("[1:0:3:4:5:6:7:8]:80", "1:0:3:4:5:6:7:8", 80),
        ("xn--bcher-kva.de:443", "xn--bcher-kva.de", 443), ("_dns.a-b.org:53", "_dns.a-b.org", 53),
        ("1.org:1", "1.org", 1),
    ])
    func `Grants are read`(text: String, host: String, port: UInt16) throws {
        #expect(try NetworkGrant(parsing: text) == NetworkGrant(host: host, port: port))
    }

    @Test(arguments: [
        "", ":", ":::", "1", "1:2", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1::", "12345::",
        "::1%eth0", "1.2.3.4::", "::1.2.3", "::1.2.3.4.5", "::256.1.1.1", "::01.1.1.1", ":1::",
        "::1:",
        "+1::", "::-1",
    ])
    func `Bad addresses are refused`(text: String) { #expect(IPv6Address(text) == nil) }

    @Test
    func `Takes exact beside family`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            Self.tasks(
                """
                "a.*": { "plugin": "p" }, "a.b": { "plugin": "p" }, "ab.*": { "plugin": "p" },
                "x-ray": { "function": "f" }
                """
            )
        )
        #expect(diagnostics.isEmpty)
        #expect(manifest?.tasks.map(\.identifier.description) == ["a.*", "a.b", "ab.*", "x-ray"])
    }

    @Test
    func `Warns of what in process cannot`() throws {
        let (manifest, diagnostics) = ManifestFixture.read(
            ManifestFixture.plugin(
                """
                "isolation": "in-process", "runsPerWorker": 1, "prestart": 1,
                "limits": { "memory": "1GiB", "cpu": "1s", "processes": 2, "descriptors": 32,
                            "output": "1MiB", "result": "1KiB" }
                """
            )
        )
        #expect(manifest?.plugins.first?.limits.memoryBytes == 1 << 30)
        #expect(diagnostics.allSatisfy { $0.severity == .warning })
        #expect(
            diagnostics.map(\.code)
                == [.sharedInProcess, .sharedInProcess]
                + Array(repeating: .unenforcedInProcess, count: 4)
        )
    }

    /// A key that is new in `limits` is one that only a worker enforces, until the list of the others
    /// has it.
    @Test
    func `Warns of each limit of workers`() throws {
        let values = [
            "memory": "\"1GiB\"", "cpu": "\"1s\"", "cpuQuota": "\"50%\"", "processes": "2",
            "descriptors": "32", "output": "\"1MiB\"", "result": "\"1KiB\"", "data": "\"1MiB\"",
            "files": "16",
        ]
        for key in ManifestKeys.workerLimits.keys.map(\.name) {
            let value = try #require(values[key], "give `\(key)` a value here")
            let (manifest, diagnostics) = ManifestFixture.read(
                ManifestFixture.plugin(
                    "\"isolation\": \"in-process\", \"limits\": { \"\(key)\": \(value) }"
                )
            )
            #expect(manifest != nil, "\(key)")
            let isEnforced = ManifestBuilder.limitsInProcess.contains(key)
            #expect(
                diagnostics.map(\.code) == (isEnforced ? [] : [.unenforcedInProcess]),
                "\(key)"
            )
        }
    }
}

extension String {
    /// A manifest that begins with its version, with a plugin `p` before the rest.
    fileprivate var withPlugin: String {
        let head = "{ \"version\": 1,"
        return head + " \"plugins\": { \"p\": { \"library\": \"p.so\" } }," + dropFirst(head.count)
    }
}
