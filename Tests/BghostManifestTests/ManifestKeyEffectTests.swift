// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostManifest
import BghostModel
import Testing

/// A key that the schema has and the builder does not read would be accepted and ignored.
@Suite struct ManifestKeyEffectTests {
    /// A key of a section, or of a section in it, with values of its form.
    struct Key: Sendable, CustomTestStringConvertible {
        var section: String
        var path: [String]
        var values: [String]

        var testDescription: String { ([section] + path).joined(separator: ".") }

        /// The fields that set the key to a value, or that lead to it without setting it.
        func fields(_ value: String?) -> String {
            let inner = path.count > 1 ? ManifestKeyEffectTests.beside[path[0]] ?? [:] : [:]
            let name = path[path.count - 1]
            var all = inner.filter { $0.key != name }
            all[name] = value ?? inner[name]
            let text = ManifestKeyEffectTests.text(all)
            guard path.count > 1 else { return text }
            return value == nil && inner.isEmpty ? "" : "\"\(path[0])\": { \(text) }"
        }
    }

    /// What a section has beside a key that is refused without it.
    private static let beside = [
        "retry": ["policy": "\"exponential\""], "offset": ["window": "\"3s\""],
        "dashboard": ["listen": "\"127.0.0.1:8645\""],
        "alerts": ["to": "[{ \"ntfy\": \"https://ntfy.sh/topic\" }]"],
        "heartbeat": ["url": "\"https://hc-ping.com/x\""],
        "traces": ["endpoint": "\"http://127.0.0.1:4318/v1/traces\""],
        "fleet": fleet,
    ]

    private static let fleet = ["connection": "\"host=db.example\"", "name": "\"web-1\""]

    /// What a task has beside a key.
    private static let interval = [
        "every": "\"1h\"", "tolerance": "\"5m\"", "misfire": "\"all\"",
    ]

    /// What a task has beside a key that only calendars have.
    private static let calendar = ["calendar": "\"0 3 * * *\""]

    private static func text(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
            .joined(separator: ", ")
    }

    /// Values of a form; none for texts, lists and sections.
    private static func values(_ node: JSONNode) -> [String] {
        if node["type"]?.string == "boolean" { return ["true", "false"] }
        if let words = node["enum"]?.array { return words.map(\.text) }
        if let least = node["minimum"], let most = node["maximum"] {
            return [least.text, most.text]
        }
        return switch node["pattern"]?.string {
        case QuantityNotation.duration.pattern: ["\"7s\"", "\"90m\""]
        case QuantityNotation.size.pattern: ["\"2MiB\"", "\"3KiB\""]
        case QuantityNotation.share.pattern: ["\"50%\""]
        default: []
        }
    }

    static func keys() throws -> [Key] {
        let schema = try JSONReader.parse(ManifestSchema.json())
        var keys: [Key] = []
        for section in ["host", "plugins", "tasks", "sessions"] {
            let whole = try #require(schema["properties"]?[section])
            let entry = section == "host" ? whole : whole["patternProperties"]?.object?.first?.value
            // Only drop-ins have `override`, and other tests read those.
            for property in try #require(entry)["properties"]?.object ?? []
            where property.key != "override" {
                let forms = [property.value] + (property.value["anyOf"]?.array ?? [])
                keys.append(
                    Key(section: section, path: [property.key], values: forms.flatMap(values))
                )
                for inner in forms.flatMap({ $0["properties"]?.object ?? [] }) {
                    let path = [property.key, inner.key]
                    keys.append(Key(section: section, path: path, values: values(inner.value)))
                }
            }
        }
        return keys.filter { !$0.values.isEmpty }
    }

    private static func read(_ key: Key, _ value: String?) -> Manifest? {
        let fields = key.fields(value)
        func given(_ section: String) -> String {
            section == key.section && !fields.isEmpty ? ", \(fields)" : ""
        }
        let isOfCalendars = ["gap", "fold", "timeZone", "runs"].contains(key.path[0])
        var usual = isOfCalendars ? calendar : key.path == ["onBoot"] ? [:] : interval
        if key.section == "tasks" { usual[key.path[0]] = nil }
        let host = key.path == ["runs"] ? ", \"fleet\": { \(text(fleet)) }" : ""
        let task = usual.isEmpty ? "" : ", " + text(usual)
        return ManifestFixture.read(
            """
            { "version": 1, "host": { "x-none": 0\(host)\(given("host")) },
              "plugins": { "p": { "library": "p.so"\(given("plugins")) } },
              "tasks": { "t": { "plugin": "p"\(task)\(given("tasks")) } },
              "sessions": { "s": { "plugin": "p"\(given("sessions")) } } }
            """
        ).manifest
    }

    @Test(arguments: try keys())
    func `Some value changes the manifest`(key: Key) throws {
        let plain = try #require(Self.read(key, nil), "\(key.fields(nil))")
        let others = key.values.compactMap { Self.read(key, $0) }
        #expect(others.isEmpty == false, "none of \(key.values) is accepted")
        #expect(others.contains { $0 != plain }, "it is accepted, and changes nothing")
    }

    @Test func `The schema is read`() throws { #expect(try Self.keys().count > 60) }
}
