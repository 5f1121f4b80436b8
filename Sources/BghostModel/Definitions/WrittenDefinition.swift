// SPDX-License-Identifier: Apache-2.0

/// The keys of one definition or section as the manifest's files contain them, for comparisons that
/// people read.
///
/// References to secrets are not resolved, so no value of a secret is part of it.
package struct WrittenDefinition: Sendable {
    /// A part of the manifest; each raw value is the noun for people.
    package enum Kind: String, Sendable, CaseIterable {
        case host, plugin, function, task, signer, session, notifications
    }

    package let kind: Kind
    /// The name of the definition; "" for `host` and `notifications`.
    package let name: String
    /// The values by their keys, in the order of the file.
    ///
    /// The key of a nested value is a path such as `limits.runtime`. A string is without its quotation
    /// marks, and an array is JSON.
    package let values: [(key: String, text: String)]
    /// The file and the line of its name, such as `tasks.json:12`; "" if it is not known.
    package let place: String

    package init(
        _ kind: Kind,
        _ name: String,
        _ values: [(key: String, text: String)],
        place: String = ""
    ) {
        self.kind = kind
        self.name = name
        self.values = values
        self.place = place
    }
}

/// All definitions as the manifest's files contain them.
///
/// Two of them are always equal, so that manifests are equal if they mean the same: `60s` is `1m`.
package struct WrittenDefinitions: Equatable, Sendable {
    package let all: [WrittenDefinition]

    package init(_ all: [WrittenDefinition] = []) { self.all = all }

    package static func == (one: WrittenDefinitions, other: WrittenDefinitions) -> Bool { true }
}

/// One changed key of a definition.
package struct WrittenChange: Equatable, Sendable {
    /// The path of the key.
    package var key: String
    /// The text before, at most `textMax` characters; `nil` if the key was not given.
    package var before: String?
    /// The text after; `nil` if the key is not given any more.
    package var after: String?

    /// The most characters of a text; more end in "…".
    static let textMax = 120

    init(key: String, before: String?, after: String?) {
        self.key = key
        (self.before, self.after) = (before, after)
        guard let before, let after else {
            self.before = before.map { Self.cut($0, keeping: 0) }
            self.after = after.map { Self.cut($0, keeping: 0) }
            return
        }
        // Two long texts that differ late must not look the same.
        let same = zip(before, after).prefix { $0 == $1 }.count
        self.before = Self.cut(before, keeping: same)
        self.after = Self.cut(after, keeping: same)
    }

    /// The part of a text around the character `index`.
    private static func cut(_ text: String, keeping index: Int) -> String {
        guard text.count > textMax else { return text }
        let start = max(0, min(index - textMax / 4, text.count - textMax))
        let part = text.dropFirst(start)
        return (start > 0 ? "…" : "") + part.prefix(textMax)
            + (part.count > textMax ? "…" : "")
    }
}

/// The keys in which the definitions of two manifests differ.
package struct WrittenComparison: Sendable {
    private struct Subject: Hashable {
        var kind: WrittenDefinition.Kind
        var name: String
    }

    private var changes: [Subject: [WrittenChange]] = [:]

    /// Compares a manifest with itself.
    package init() {}

    /// The cost is O(size of both manifests), so it is made outside the reactor's thread.
    package init(_ new: Manifest, since old: Manifest) {
        self.init(new.written, since: old.written)
    }

    /// The cost is as that of manifests.
    package init(_ new: WrittenDefinitions, since old: WrittenDefinitions) {
        var former: [Subject: [(key: String, text: String)]] = [:]
        for definition in old.all {
            former[Subject(kind: definition.kind, name: definition.name)] = definition.values
        }
        for definition in new.all {
            let subject = Subject(kind: definition.kind, name: definition.name)
            guard let values = former[subject] else { continue }
            let found = Self.changes(from: values, to: definition.values)
            if !found.isEmpty { changes[subject] = found }
        }
    }

    /// The changed keys of a definition: changed and added ones in the order of the new manifest, and then
    /// removed ones.
    ///
    /// There are none if the files contain the same, or if one of the manifests does not have the
    /// definition.
    package func of(_ kind: WrittenDefinition.Kind, _ name: String = "") -> [WrittenChange] {
        changes[Subject(kind: kind, name: name)] ?? []
    }

    private static func changes(
        from former: [(key: String, text: String)],
        to new: [(key: String, text: String)]
    ) -> [WrittenChange] {
        let before = Dictionary(former.map { ($0.key, $0.text) }) { _, last in last }
        let after = Dictionary(new.map { ($0.key, $0.text) }) { _, last in last }
        let (parentsBefore, parentsAfter) = (parents(of: former), parents(of: new))
        // An empty object has no keys; if the other one has some, these say all.
        let present = new.filter { before[$0.key] != $0.text }
            .filter { $0.text != emptyObject || !parentsBefore.contains($0.key) }
            .map { WrittenChange(key: $0.key, before: before[$0.key], after: $0.text) }
        let absent = former.filter { after[$0.key] == nil }
            .filter { $0.text != emptyObject || !parentsAfter.contains($0.key) }
            .map { WrittenChange(key: $0.key, before: $0.text, after: nil) }
        return present + absent
    }

    private static let emptyObject = "{}"

    /// The paths of the objects that contain the values.
    private static func parents(of values: [(key: String, text: String)]) -> Set<String> {
        var parents: Set<String> = []
        for (key, _) in values {
            var path = Substring(key)
            while let dot = path.lastIndex(of: ".") {
                path = path[..<dot]
                // Those above are known too.
                guard parents.insert(String(path)).inserted else { break }
            }
        }
        return parents
    }
}
