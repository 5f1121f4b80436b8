// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// A named definition, and the file that contains it.
struct ManifestEntry {
    var name: String
    var keySpan: ByteSpan
    /// An object; any other value here has already been reported.
    var node: JSONNode
    var source: ManifestSource

    var place: Diagnostic.Place { Diagnostic.Place(keySpan, in: source.text) }
    var location: SourceLocation { source.text.location(at: Int(keySpan.start)) }
}

/// Merges the definitions of all files.
///
/// A definition with `override` replaces that of an earlier file; any other duplicate is reported.
struct DefinitionMerge {
    let sources: [ManifestSource]
    let collector: DiagnosticCollector

    /// The effective definitions of one top-level section.
    func entries(_ section: String, noun: String) -> [ManifestEntry] {
        var result: [ManifestEntry] = []
        var positions: [[UInt8]: Int] = [:]
        for source in sources {
            guard let node = source.members.first(where: { $0.key == section })?.value else {
                continue
            }
            for member in node.object ?? [] {
                let entry = ManifestEntry(
                    name: member.key,
                    keySpan: member.keySpan,
                    node: member.value,
                    source: source
                )
                let overrides = member.value["override"]?.bool == true
                guard let position = positions[Array(member.key.utf8)] else {
                    if overrides { reportNothingToOverride(entry, noun) }
                    positions[Array(member.key.utf8)] = result.count
                    result.append(entry)
                    continue
                }
                let earlier = result[position]
                if earlier.source.index < source.index, overrides {
                    result[position] = entry
                } else {
                    reportTwice(entry, earlier, noun)
                }
            }
        }
        return result
    }

    private func reportTwice(_ entry: ManifestEntry, _ earlier: ManifestEntry, _ noun: String) {
        let isSameFile = entry.source.index == earlier.source.index
        collector.report(
            .definedTwice,
            at: entry.keySpan,
            in: entry.source,
            "\(noun) \(entry.name.quoted) is defined twice",
            help: isSameFile
                ? "remove or rename one of the two"
                : "if it is to replace the earlier one, add `\"override\": true`",
            notes: [Diagnostic.Note("it is defined here first", at: earlier.place)]
        )
    }

    private func reportNothingToOverride(_ entry: ManifestEntry, _ noun: String) {
        let span = entry.node.object?.first { $0.key == "override" }?.keySpan
        collector.report(
            .nothingToOverride,
            at: span ?? entry.keySpan,
            in: entry.source,
            "no earlier file defines \(noun) \(entry.name.quoted), so nothing is overridden",
            help: "correct the name, or remove `override`"
        )
    }
}
