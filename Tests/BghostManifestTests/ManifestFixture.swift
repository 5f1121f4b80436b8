// SPDX-License-Identifier: Apache-2.0

import BghostCalendar
@testable import BghostManifest
import BghostModel

/// Manifests in tests: text in, diagnostics out.
enum ManifestFixture {
    /// Stands in a text right before the place that a diagnostic must name.
    static let mark: Character = "▶"

    /// Fills a task around the given fields.
    static func task(_ fields: String) -> String {
        """
        {
          "version": 1,
          "plugins": { "p": { "library": "libp.so" } },
          "tasks": { "t": { "plugin": "p", \(fields) } }
        }
        """
    }

    /// Fills a plugin around the given fields.
    static func plugin(_ fields: String) -> String {
        """
        {
          "version": 1, // the format
          "plugins": { "p": { "library": "libp.so", \(fields) } },
        }
        """
    }

    static func host(_ fields: String) -> String {
        "{ \"version\": 1,\n  \"host\": { \(fields) } }"
    }

    static let berlin = ZoneTable(name: "Europe/Berlin", fixedOffset: 3600)

    static func reader(
        secrets: [String: String] = [:],
        unresolved: Diagnostic.Severity = .error,
        doubts: [String: String] = [:]
    ) -> ManifestReader {
        ManifestReader(
            manifestDirectory: "/etc/bghost",
            unresolvedSecrets: unresolved,
            resolveSecret: { reference in
                secrets[reference.description].map(Result.success)
                    ?? .failure(SecretError("it is not set"))
            },
            fileDoubt: { doubts[$0] },
            zones: zones
        )
    }

    static var zones: ZoneSource {
        ZoneSource(
            find: { name in
                switch name {
                case "UTC": return .utc
                case "Europe/Berlin": return berlin
                default: throw ZoneError.notAZone
                }
            },
            names: { ["Europe/Berlin", "UTC"] }
        )
    }

    static func read(
        _ text: String,
        dropIns: [(name: String, text: String)] = [],
        secrets: [String: String] = [:],
        unresolved: Diagnostic.Severity = .error,
        doubts: [String: String] = [:]
    ) -> (manifest: Manifest?, diagnostics: [Diagnostic]) {
        let files = dropIns.map { ManifestFile(name: $0.name, bytes: Array($0.text.utf8)) }
        return reader(secrets: secrets, unresolved: unresolved, doubts: doubts)
            .read(ManifestFile(name: "tasks.json", bytes: Array(text.utf8)), dropIns: files)
    }

    /// Takes the marks out, and says where they stood.
    static func unmark(_ marked: String) -> (text: String, places: [(line: Int, column: Int)]) {
        var text = ""
        var places: [(line: Int, column: Int)] = []
        var (line, column) = (1, 1)
        for scalar in marked.unicodeScalars {
            if Character(scalar) == mark {
                places.append((line, column))
                continue
            }
            text.unicodeScalars.append(scalar)
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        return (text, places)
    }
}
