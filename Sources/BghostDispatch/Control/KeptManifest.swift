// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostCrypto
package import BghostModel

/// What a manifest's files contain, as a daemon keeps it for the next one, which compares it with its own.
///
/// In the place of a value that may be secret is a hash, with a salt that stays the same from one
/// manifest to the next: a change is seen, and the value is not kept.
package struct KeptManifest: Sendable {
    package let definitions: WrittenDefinitions
    private let salt: String

    /// - Parameter before: the manifest with which it will be compared; `nil` if there is none.
    package init(_ manifest: Manifest, after before: KeptManifest? = nil) {
        let salt = before?.salt ?? RandomBytes.make(16).hexText
        self.salt = salt
        definitions = WrittenDefinitions(
            manifest.written.all.map { definition in
                WrittenDefinition(
                    definition.kind,
                    definition.name,
                    definition.values.map { value in
                        guard ReloadReport.Change.maySecret(value.key) else { return value }
                        return (
                            value.key, SHA256.hash(data: Array((salt + value.text).utf8)).hexText
                        )
                    }
                )
            }
        )
    }

    /// Reads what `text` wrote; `nil` if it is something else.
    package init?(text: String) {
        // What another version wrote is compared with nothing, as if it were not there.
        guard let node = try? JSONReader.parse(text), let salt = node["salt"]?.string,
            let list = node["definitions"]?.array
        else { return nil }
        var definitions: [WrittenDefinition] = []
        for entry in list {
            guard let kind = entry["kind"]?.string.flatMap(WrittenDefinition.Kind.init),
                let name = entry["name"]?.string, let pairs = entry["values"]?.array
            else { return nil }
            var values: [(key: String, text: String)] = []
            for pair in pairs {
                guard let both = pair.array, both.count == 2, let key = both[0].string,
                    let text = both[1].string
                else { return nil }
                values.append((key, text))
            }
            definitions.append(WrittenDefinition(kind, name, values))
        }
        self.salt = salt
        self.definitions = WrittenDefinitions(definitions)
    }

    /// The text that the store keeps.
    package var text: String {
        var writer = JSONWriter(reservingBytes: 4096)
        writer.object { writer in
            writer.member("salt", salt)
            writer.member("definitions") { writer in
                writer.array { writer in
                    for definition in definitions.all {
                        writer.object { writer in
                            writer.member("kind", definition.kind.rawValue)
                            writer.member("name", definition.name)
                            writer.member("values") { writer in
                                writer.array { writer in
                                    for value in definition.values {
                                        writer.array { writer in
                                            writer.value(value.key)
                                            writer.value(value.text)
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        return writer.text
    }
}

/// How the manifest that a daemon takes up differs from the one that was kept before.
package struct ManifestStep: Sendable {
    /// The text to keep; `nil` if it is the one that is kept.
    package let text: String?
    /// The changes; `nil` if there are none, or nothing to compare with.
    package let report: ReloadReport?

    /// Compares, in O(size of both manifests): outside the reactor's thread.
    ///
    /// - Parameter before: the text that is kept; `nil` if there is none.
    package init(to manifest: Manifest, from before: String?) {
        let old = before.flatMap { KeptManifest(text: $0) }
        let new = KeptManifest(manifest, after: old)
        let text = new.text
        self.text = text == before ? nil : text
        guard let old, text != before else {
            report = nil
            return
        }
        let report = ReloadReport(from: old.definitions, to: new.definitions)
        // The order of the definitions, or of their keys, may differ.
        self.report = report.linesWithoutSecrets.isEmpty ? nil : report
    }
}
