// SPDX-License-Identifier: Apache-2.0

/// The tags of tasks: names by which operators select several tasks at once.
package enum TaskTag {
    /// The most tags of one task.
    package static let countMax = 16
    /// The most bytes of a tag.
    package static let bytesMax = 32
}

/// The tasks that have a tag, as one manifest defines them.
package struct TaggedTasks: Equatable, Sendable {
    /// The identifiers of exact tasks with the tag.
    package private(set) var names: Set<String> = []
    /// How the members of families with the tag begin, such as `com.example.`.
    package private(set) var stems: Set<String> = []
    /// The identifiers of exact tasks without the tag; one that begins with a stem is no member of that family.
    package private(set) var others: Set<String> = []

    package init() {}

    /// Adds a task of the manifest.
    package mutating func add(_ identifier: IdentifierPattern, hasTag: Bool) {
        let text = identifier.description
        switch (hasTag, identifier.isFamily) {
        case (true, true): stems.insert(String(text.dropLast()))
        case (true, false): names.insert(text)
        case (false, true): break
        case (false, false): others.insert(text)
        }
    }

    /// Keeps of the tasks without the tag only those that are no members of the families with it.
    package mutating func finish() {
        others = others.filter(hasStem)
    }

    /// Whether no task of the manifest has the tag.
    package var isEmpty: Bool { names.isEmpty && stems.isEmpty }

    /// Whether the task with this identifier has the tag.
    package func contains(_ identifier: String) -> Bool {
        names.contains(identifier) || hasStem(identifier) && !others.contains(identifier)
    }

    /// It costs one lookup for each dot of the identifier.
    private func hasStem(_ identifier: String) -> Bool {
        guard !stems.isEmpty else { return false }
        return identifier.utf8.indices.contains { index in
            identifier.utf8[index] == UInt8(ascii: ".")
                && stems.contains(String(identifier[...index]))
        }
    }
}
