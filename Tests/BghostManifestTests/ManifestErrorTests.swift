// SPDX-License-Identifier: Apache-2.0

import BghostManifest
import BghostModel
import Testing

/// One problem per manifest: its code, its place (the mark), and what is said beside it.
@Suite struct ManifestErrorTests {
    struct Bad: Sendable, CustomTestStringConvertible {
        var code: DiagnosticCode
        var text: String
        var label: String?
        var testDescription: String { "\(code.rawValue) \(text.split(separator: "\n").joined())" }

        init(_ code: DiagnosticCode, _ text: String, label: String? = nil) {
            self.code = code
            self.text = text
            self.label = label
        }
    }

    static let files = [
        Bad(.emptyFile, "▶"), Bad(.emptyFile, "▶ \n\t\n"), Bad(.emptyFile, "▶// nothing\n"),
        Bad(.byteOrderMark, "▶\u{FEFF}{\"version\":1}"),
        Bad(.cutOff, "{\n  \"version\": 1▶\n\n", label: "something is missing here"),
        Bad(.cutOff, "{ \"version\": 1, \"plugins\": { \"p▶"),
        Bad(.cutOff, "{ \"version\": 1 } /* no end▶"),
        Bad(.malformed, "{ \"version\": 1 }\n▶}"),
        Bad(.malformed, "{ \"version\" ▶= 1 }", label: "`:` after the key is needed"),
        Bad(.malformed, "{ ▶'version': 1 }"), Bad(.malformed, "{ \"version\": 1 ▶\"host\": {} }"),
        Bad(.malformed, "{ \"version\": 1, \"host\": { \"slots\": ▶4x } }"),
        Bad(.malformed, "{ \"version\": 1, \"x-é\": \"▶\\q\" }"),
        Bad(
            .malformed,
            "{ \"version\": 1, \"x-a\": \"▶\n\" }",
            label: "the string is not closed on its line"
        ),
        Bad(.malformed, "{ \"version\": 1, \"x-a\": ▶None }"),
        Bad(.malformed, "▶# comment\n{ \"version\": 1 }"),
        Bad(.nestedTooDeep, "{ \"x-a\": " + String(repeating: "[", count: 63) + "▶[]"),
        Bad(.wrongType, "▶[]", label: "an object is needed"), Bad(.wrongType, "▶null"),
        Bad(.missingKey, "// {head}\n▶{}"),
        Bad(.unsupportedVersion, "{ \"version\": ▶2 }", label: "1 is needed"),
        Bad(.unsupportedVersion, "{ \"version\": ▶1.5 }"),
        Bad(.unsupportedVersion, "{ \"version\": ▶1e99 }"),
        Bad(.wrongType, "{ \"version\": ▶\"1\" }", label: "the number 1 is needed"),
    ]

    private static let nineProbes = (1...9).map {
        "\($0 == 9 ? "▶" : "")\"p\($0)\": { \"run\": [\"/a\"] }"
    }.joined(separator: ", ")

    static let keys = [
        Bad(
            .unknownKey,
            "{ \"version\": 1,\n  ▶\"pluginz\": {} }",
            label: "did you mean `plugins`?"
        ),
        Bad(.unknownKey, "{ \"version\": 1, ▶\"schema\": \"\" }"),
        Bad(.unknownKey, "{ \"version\": 1, ▶\"é\\n\": 0 }"),
        Bad(.unknownKey, host("▶\"slot\": 4"), label: "did you mean `slots`?"),
        Bad(.unknownKey, "{ \"version\": 1, ▶\"task\": {} }", label: "did you mean `tasks`?"),
        Bad(.unknownKey, "{ \"version\": 1, ▶\"plugin\": {} }", label: "did you mean `plugins`?"),
        Bad(.unknownKey, "{ \"version\": 1, ▶\"Session\": {} }", label: "did you mean `sessions`?"),
        Bad(.unknownKey, plugin("▶\"limit\": {}"), label: "did you mean `limits`?"),
        Bad(.unknownKey, task("▶\"handlers\": \"h\""), label: "did you mean `handler`?"),
        Bad(.unknownKey, plugin("▶\"isolatoin\": \"worker\""), label: "did you mean `isolation`?"),
        Bad(
            .unknownKey,
            plugin("\"permissions\": { ▶\"netwrok\": [] }"),
            label: "did you mean `network`?"
        ),
        Bad(.unknownKey, plugin("▶\"memory\": \"1MiB\""), label: "move it into `limits`"),
        Bad(.unknownKey, plugin("\"limits\": { ▶\"runtime\": \"1s\" }")),
        Bad(.unknownKey, task("▶\"Every\": \"1h\""), label: "did you mean `every`?"),
        Bad(.unknownKey, task("▶\"runtime\": \"1s\""), label: "move it into `limits`"),
        Bad(.unknownKey, task("\"submitAtStart\": { \"ifAbsent\": true, ▶\"if\": 1 }")),
        Bad(.duplicateKey, "{ \"version\": 1, ▶\"version\": 1 }"),
        Bad(.duplicateKey, "{ \"version\": 1, \"host\": {}, ▶\"host\": {} }"),
        Bad(.duplicateKey, "{ \"version\": 1, \"x-a\": 1, ▶\"x-\\u0061\": 1 }"),
        Bad(.duplicateKey, plugin("▶\"library\": \"libq.so\"")),
        Bad(.duplicateKey, plugin("\"config\": { \"a\": [{ \"b\": 1, ▶\"b\": 2 }] }")),
        Bad(.duplicateKey, task("\"parameters\": { \"a\": 1, ▶\"a\": 2 }")),
        Bad(.missingKey, "{ \"version\": 1, \"plugins\": { ▶\"p\": {} } }"),
        Bad(.missingKey, function("\"library\": \"libz.so.1\", \"signature\": \"int(int)\"")),
        Bad(.missingKey, task("▶\"submitAtStart\": {}")),
        Bad(.missingKey, "{ \"version\": 1, ▶\"notifications\": {} }"),
        Bad(
            .notDefined,
            """
            { "version": 1, "tasks": { "a.notify": { "function": "f" } }, "functions": { "f": \
            { "library": "libm.so.6", "symbol": "f", "signature": "int()" } },
              "notifications": { "task": ▶"a.notifi" } }
            """
        ),
        Bad(
            .outOfRange,
            """
            { "version": 1, "tasks": { "n": { "function": "f" } }, "functions": { "f": \
            { "library": "libm.so.6", "symbol": "f", "signature": "int()" } },
              "notifications": { "task": "n", "rate": { "count": ▶0 } } }
            """
        ),
        Bad(.outOfRange, plugin("\"permissions\": ▶{ \"read\": [\(manyPaths)] }")),
        Bad(.wrongType, host("\"dashboard\": ▶\"none\"")),
        Bad(.missingKey, host("▶\"dashboard\": {}")),
        Bad(.badAddress, host("\"dashboard\": { \"listen\": ▶\"0.0.0.0:8645\" }")),
        Bad(.badAddress, host("\"dashboard\": { \"listen\": ▶\"localhost:8645\" }")),
        Bad(.badAddress, host("\"dashboard\": { \"listen\": ▶\"127.0.0.1:65536\" }")),
        Bad(.badAddress, host("\"dashboard\": { \"listen\": ▶\"127.0.0.1:\" }")),
        Bad(.badAddress, dashboardHosts("▶\"https://ops.example/\"")),
        Bad(.badAddress, dashboardHosts("\"ops.example:443\", ▶\"Ops.example\"")),
        Bad(.badAddress, dashboardHosts("▶\"ops.example:99999\"")),
        Bad(.badAddress, dashboardHosts("▶\"-ops\"")),
        Bad(.badAddress, dashboardHosts("▶\"\"")),
        Bad(.notDefined, plugin("\"signedBy\": ▶\"acme\"")),
        Bad(
            .badPublicKey,
            "{ \"version\": 1, \"signers\": { \"acme\": { \"key\": ▶\"RWxx\" } } }"
        ),
        Bad(.notHonoured, task("\"kind\": ▶\"continued\"")),
        Bad(.notHonoured, task("\"submitAtStart\": { \"ifAbsent\": ▶false }")),
        Bad(.outOfRange, task("\"tolerance\": ▶\"31d\"")),
        Bad(.missingKey, task("▶\"learnsUse\": true")),
        Bad(.outOfRange, host("\"audit\": {\"rows\": ▶10}")),
        Bad(.outOfRange, host("\"log\": {\"maxSize\": ▶\"1KiB\"}")),
        Bad(.outOfRange, host("\"log\": {\"files\": ▶51}")),
        Bad(.badPath, host("\"log\": {\"file\": ▶\"logs/\"}")),
        Bad(.badPath, host("\"log\": {\"file\": ▶\"\"}")),
        Bad(.outOfRange, host("\"audit\": {\"age\": ▶\"1s\"}")),
        Bad(.outOfRange, task("\"history\": {\"runs\": ▶0}")),
        Bad(.outOfRange, host("\"history\": {\"age\": ▶\"1s\"}")),
        Bad(.outOfRange, host("\"history\": {\"rollups\": ▶0}")),
        Bad(.unknownKey, host("\"history\": {▶\"run\": 4}"), label: "did you mean `runs`?"),
        Bad(.outOfRange, task("\"history\": {\"runs\": 10, \"age\": ▶\"31d\"}")),
        Bad(.wrongType, task("\"tolerance\": \"1h\", \"learnsUse\": ▶\"yes\"")),
        Bad(.wrongType, task("\"parametersSchema\": ▶\"./schema.json\"")),
        Bad(
            .badParametersSchema,
            task("\"parametersSchema\": { \"properties\": { \"a\": { ▶\"typ\": \"string\" } } }")
        ),
        Bad(
            .wrongParameters,
            task(
                """
                "parameters": { "list": [1, ▶"two"] }, "parametersSchema": \
                { "properties": { "list": { "items": { "type": "integer" } } } }
                """
            )
        ),
        Bad(
            .wrongParameters,
            task(
                "\"every\": \"1h\", \"parameters\": ▶{}, \"parametersSchema\": {\"required\": [\"a\"]}"
            )
        ),
        Bad(.notDefined, task("\"requires\": { \"probes\": [▶\"vpn\"] }")),
        Bad(.wrongType, task("\"requires\": { \"probes\": ▶true }")),
        Bad(.unknownWord, task("\"onLost\": { \"probes\": ▶\"stop\" }")),
        Bad(.badNetworkGrant, host("\"facts\": { \"ups\": ▶\"a@b@c\" }")),
        Bad(.badNetworkGrant, host("\"facts\": { \"ups\": ▶\"a@b:0\" }")),
        Bad(.badName, host("\"facts\": { \"meteredLinks\": [▶\"a/b\"] }")),
        Bad(.badPath, host("\"facts\": { \"probes\": { \"a\": { \"run\": ▶[] } } }")),
        Bad(.badPath, host("\"facts\": { \"probes\": { \"a\": { \"run\": [▶\"true\"] } } }")),
        Bad(.missingKey, host("\"facts\": { \"probes\": { ▶\"a\": {} } }")),
        Bad(
            .nameCollision,
            host("\"facts\": { \"probes\": { ▶\"idle\": { \"run\": [\"/a\"] } } }")
        ),
        Bad(.outOfRange, host("\"facts\": { \"probes\": { \(nineProbes) } }")),
    ]

    private static func session(_ text: String) -> String {
        """
        { "version": 1, "plugins": { "p": { "library": "p.so" } }, "sessions": { \(text) } }
        """
    }

    static let sessions = [
        Bad(
            .unknownKey,
            session("\"s\": { \"plugin\": \"p\", ▶\"launchEvent\": true }"),
            label: "did you mean `launchEvents`?"
        ),
        Bad(.notDefined, session("\"s\": { \"plugin\": ▶\"q\" }")),
        Bad(.missingKey, session("▶\"s\": {}")),
        Bad(.badName, session("▶\"a..b\": { \"plugin\": \"p\" }")),
        Bad(.badName, session("▶\"s.*\": { \"plugin\": \"p\" }")),
        Bad(
            .badName,
            session("▶\"\(String(repeating: "s", count: 118))\": { \"plugin\": \"p\" }")
        ),
        Bad(
            .outOfRange,
            session("\"s\": { \"plugin\": \"p\", \"resourceTimeout\": ▶\"0s\" }")
        ),
        Bad(
            .nameCollision,
            """
            { "version": 1, "plugins": { "p": { "library": "p.so" } },
              "sessions": { "s": { "plugin": "p" } },
              "tasks": { ▶"urlSession.s": { "plugin": "p" } } }
            """
        ),
    ]

    static let schedules = [
        Bad(.badCalendar, task("\"calendar\": ▶\"0 25 * * *\"")),
        Bad(.badCalendar, task("\"calendar\": ▶\"* * *\"")),
        Bad(.badCalendar, task("\"calendar\": ▶\"0 0 30 2 *\"")),
        Bad(.badCalendar, task("\"calendar\": ▶\"\"")),
        Bad(.wrongType, task("\"calendar\": ▶5")),
        Bad(.badCalendar, task("\"calendar\": \"@daily\", ▶\"every\": \"1h\"")),
        Bad(.badCalendar, task("\"every\": \"1h\", ▶\"gap\": \"skip\"")),
        Bad(.badTimeZone, task("\"calendar\": \"@daily\", \"timeZone\": ▶\"Mars/Olympus\"")),
        Bad(
            .badTimeZone,
            task("\"calendar\": \"@daily\", \"timeZone\": ▶\"Europe/berlin\""),
            label: "did you mean \"Europe/Berlin\"?"
        ),
        Bad(.badTimeZone, ManifestFixture.host("\"timeZone\": ▶\"CEST\"")),
        Bad(.unknownWord, task("\"calendar\": \"@daily\", \"fold\": ▶\"last\"")),
        Bad(.missingKey, task("\"every\": \"1h\", ▶\"offset\": {}")),
        Bad(.outOfRange, task("\"every\": \"1h\", \"misfireMax\": ▶0")),
    ]

    static let requirements = [
        Bad(
            .unknownKey,
            task("\"requires\": { ▶\"netwrok\": true }"),
            label: "did you mean `network`?"
        ),
        Bad(.wrongType, task("\"requires\": { \"idle\": ▶\"yes\" }")),
        Bad(.wrongType, task("\"requires\": ▶[\"network\"]")),
        Bad(.unknownWord, task("\"onLost\": { \"network\": ▶\"kill\" }")),
    ]

    static let retries = [
        Bad(.missingKey, task("▶\"retry\": {}")),
        Bad(.unknownWord, task("\"retry\": { \"policy\": ▶\"linear\" }")),
        Bad(.outOfRange, task("\"retry\": { \"policy\": \"none\", \"max\": ▶0 }")),
        Bad(.wrongType, task("\"retry\": ▶\"none\"")),
    ]

    static let types = [
        Bad(.wrongType, "{ \"version\": 1, \"host\": ▶[] }", label: "an object is needed"),
        Bad(.wrongType, "{ \"version\": 1, \"tasks\": ▶null }"),
        Bad(.wrongType, "{ \"version\": 1, \"plugins\": { \"p\": ▶\"libp.so\" } }"),
        Bad(.wrongType, "{ \"version\": 1, \"tasks\": { \"x-ray\": ▶\"film\" } }"),
        Bad(
            .wrongType,
            host("\"slots\": ▶\"4\""),
            label: "a whole number from 1 to 4096 is needed"
        ),
        Bad(.wrongType, host("\"stateDirectory\": ▶1")), Bad(.wrongType, plugin("\"config\": ▶[]")),
        Bad(
            .wrongType,
            plugin("\"permissions\": { \"notify\": ▶\"yes\" }"),
            label: "true or false is needed"
        ),
        Bad(
            .wrongType,
            plugin("\"permissions\": { \"read\": ▶\"/srv\" }"),
            label: "an array of strings is needed"
        ),
        Bad(.wrongType, plugin("\"permissions\": { \"read\": [\"/a\", ▶1] }")),
        Bad(.wrongType, task("\"every\": ▶null")), Bad(.wrongType, task("\"priority\": ▶true")),
        Bad(.wrongType, task("\"kind\": ▶1")), Bad(.wrongType, task("\"submitAtStart\": ▶1")),
        Bad(.wrongType, task("\"limits\": ▶\"25s\"")),
    ]

    static func host(_ fields: String) -> String { ManifestFixture.host(fields) }
    static func dashboardHosts(_ names: String) -> String {
        host("\"dashboard\": { \"listen\": \"[::1]:0\", \"hosts\": [\(names)] }")
    }
    static func plugin(_ fields: String) -> String { ManifestFixture.plugin(fields) }
    static func task(_ fields: String) -> String { ManifestFixture.task(fields) }
    static func function(_ fields: String) -> String {
        "{ \"version\": 1, \"functions\": {\n ▶\"f\": { \(fields) } } }"
    }

    static let behaviours = schedules + requirements + retries

    @Test(arguments: files + keys + sessions + behaviours + types + quantities)
    func `Each error is named with its place`(_ bad: Bad) throws {
        let (text, places) = ManifestFixture.unmark(bad.text)
        let (manifest, diagnostics) = ManifestFixture.read(text)
        #expect(manifest == nil)
        #expect(diagnostics.count == 1)
        let diagnostic = try #require(diagnostics.first)
        let place = try #require(places.first)
        #expect(diagnostic.code == bad.code)
        #expect(diagnostic.severity == .error)
        #expect(
            diagnostic.location
                == SourceLocation(file: "tasks.json", line: place.line, column: place.column)
        )
        if let label = bad.label { #expect(diagnostic.label == label) }
    }

    @Test
    func `Refuses large files`() {
        let head = "{\"version\":1}"
        func read(bytes count: Int) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
            let padding = String(repeating: " ", count: count - head.utf8.count)
            return ManifestFixture.read(head + padding)
        }
        #expect(read(bytes: 1 << 20).manifest != nil)
        let tooLarge = read(bytes: 1 << 20 + 1)
        #expect(tooLarge.manifest == nil)
        #expect(tooLarge.diagnostics.map(\.code) == [.fileTooLarge])
    }

    @Test(arguments: [
        ([0x7B, 0x22, 0xFF, 0x22, 0x7D], 3), ([0xFF, 0xFE, 0x7B, 0x00], 1),
        ([0x1F, 0x8B, 0x08], 2),
    ])
    func `Refuses other encodings`(bytes: [UInt8], column: Int) {
        let (manifest, diagnostics) = ManifestFixture.reader()
            .read(ManifestFile(name: "tasks.json", bytes: bytes))
        #expect(manifest == nil)
        #expect(diagnostics.map(\.code) == [.notUTF8])
        #expect(diagnostics.first?.location.column == column)
    }

    @Test
    func `Accepts free keys in every section`() {
        let (manifest, diagnostics) = ManifestFixture.read(
            """
            { "$schema": 1, "version": 1, "x-": null, "host": { "x-a": 1, "$schema": "s" },
              "plugins": { "p": { "library": "p.so", "x-a": {}, "limits": { "x-b": [] } } },
              "tasks": { "t": { "plugin": "p", "x-a": 1, "submitAtStart": { "ifAbsent": true, "x-": 0 } } } }
            """
        )
        #expect(manifest != nil)
        #expect(diagnostics.isEmpty)
    }
}
