// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostManifest
import BghostTestSupport
import Glibc
import Testing

/// `docs/manifest.md` lists the keys that the reader knows.
@Suite struct ManifestReferenceTests {
    /// The page is written anew after a change of the keys by the following.
    ///
    /// `BGHOST_WRITE_SCHEMA=1 swift test --skip-build --disable-xctest --filter ManifestReferenceTests`
    @Test func `docs/manifest.md matches the generated page`() throws {
        let path = PackageRoot.path + "/docs/manifest.md"
        var reference = ManifestReference()
        let generated = reference.markdown()
        if getenv("BGHOST_WRITE_SCHEMA") != nil { try File.write(generated.utf8, to: path) }
        let committed = String(decoding: try File.read(path), as: UTF8.self)
        #expect(committed == generated, "set BGHOST_WRITE_SCHEMA=1 to write the page anew")
    }

    /// A section that the page forgets would be no difference between two forgetful pages.
    @Test func `Each key of the schema is in the page`() throws {
        var reference = ManifestReference()
        let page = reference.markdown()
        var names: Set<String> = []
        collect(try JSONReader.parse(ManifestSchema.json()), &names)
        #expect(names.isSuperset(of: ["tasks", "runtime", "session", "misfireMax"]))
        for name in names { #expect(page.contains("| `\(name)` |"), "\(name)") }
    }

    private func collect(_ node: JSONNode, _ names: inout Set<String>) {
        for property in node["properties"]?.object ?? [] {
            names.insert(property.key)
            collect(property.value, &names)
        }
        for choice in node["anyOf"]?.array ?? [] { collect(choice, &names) }
        if let items = node["items"] { collect(items, &names) }
        for entry in node["patternProperties"]?.object ?? [] { collect(entry.value, &names) }
    }
}

/// The page of all keys, from the table of the reader and the schema.
private struct ManifestReference {
    /// A section of keys, at the place where the page describes it.
    private struct Place {
        var path: String
        var section: ManifestSection
    }

    private var text = """
        # The manifest's keys

        Every key of `tasks.json`, with its type, its default and what it does. The tests generate this page from the
        table with which the daemon reads the file. [SCHEDULING.md](SCHEDULING.md), [TRANSFERS.md](TRANSFERS.md),
        [NOTIFICATIONS.md](NOTIFICATIONS.md), [OPERATION.md](OPERATION.md) and [ISOLATION.md](ISOLATION.md) explain how
        keys work together; `bghost check` checks a file, and `Config/tasks.schema.json` has the keys for editors.

        The file is JSON with comments and trailing commas. Keys that begin with `x-`, and `$schema`, may have any
        value. Durations are `500ms`, `30s`, `5m`, `2h`, `7d`; sizes are `64MiB`, `1GB`; shares are `50%`. NAME is a
        name of your own.


        """
    private var waiting: [Place] = []
    /// Where each section is described: several keys may have the same one.
    private var places: [String: String] = [:]

    mutating func markdown() -> String {
        describe(Place(path: "", section: ManifestKeys.root))
        while !waiting.isEmpty { describe(waiting.removeFirst()) }
        return text
    }

    private mutating func describe(_ place: Place) {
        text += "## " + (place.path.isEmpty ? "The file" : "`\(place.path)`") + "\n\n"
        if !place.section.alternatives.isEmpty {
            let names = place.section.alternatives.map { "`\($0)`" }.joined(separator: ", ")
            text += "Exactly one of \(names) is there.\n\n"
        }
        text += "| key | value | default | meaning |\n| --- | --- | --- | --- |\n"
        var later: [Place] = []
        for key in place.section.keys {
            let path = place.path.isEmpty ? key.name : "\(place.path).\(key.name)"
            let value = Self.cell(describe(key.type, path, &later))
            let fallback = key.isRequired ? "required" : key.defaultText.map { "`\($0)`" } ?? ""
            text += "| `\(key.name)` | \(value) | \(Self.cell(fallback)) | "
            text += Self.cell(key.summary) + " |\n"
        }
        text += "\n"
        // What belongs to a section follows it.
        waiting = later + waiting
    }

    private mutating func describe(
        _ type: ManifestType,
        _ path: String,
        _ later: inout [Place]
    ) -> String {
        switch type {
        case .section(let section): return link("an object", section, path, &later)
        case .sections(let section): return link("an array of objects", section, path, &later)
        case .definitions(let section, let names):
            return link("objects by \(names.noun)", section, path + ".NAME", &later)
        case .flagOrSection(let section):
            return link("true, false or an object", section, path, &later)
        case .wordOrSection(_, let section): return link(type.needs, section, path, &later)
        case .text(let format): return format.noun
        case .list(let format): return "an array: \(format.noun)"
        case .textsOrSections(let format, let section):
            return link("an array: \(format.noun), or an object", section, path, &later)
        case .settings: return "an object of the plugin's own"
        case .reserved(let advice): return "not yet: \(advice)"
        default: return type.needs
        }
    }

    private mutating func link(
        _ text: String,
        _ section: ManifestSection,
        _ path: String,
        _ later: inout [Place]
    ) -> String {
        let identity = section.noun + section.keys.map { $0.name + $0.summary }.joined()
        if places[identity] == nil {
            places[identity] = path
            later.append(Place(path: path, section: section))
        }
        let place = places[identity] ?? path
        let anchor = place.lowercased().filter { $0 != "." }
        return "\(text): [`\(place)`](#\(anchor))"
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
