// SPDX-License-Identifier: Apache-2.0

/// The changes that a reload of the manifest made.
package struct ReloadReport: Codable, Equatable, Sendable {
    /// Added, changed and removed names, each in the manifest's order.
    package struct Names: Codable, Equatable, Sendable {
        /// In the new manifest only.
        @Elements package var added: [String]
        /// In both manifests, with different definitions.
        @ElementsOrEmpty package var changed: [String]
        /// In the old manifest only.
        @ElementsOrEmpty package var removed: [String]

        package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
            self.added = added
            self.changed = changed
            self.removed = removed
        }

        var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

        /// A text such as "1 added, 2 changed"; "" if it is empty.
        var summary: String {
            [(added, "added"), (changed, "changed"), (removed, "removed")]
                .filter { !$0.0.isEmpty }.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
        }
    }

    /// Tasks.
    package var tasks: Names
    /// Plugins and functions.
    package var plugins: Names
    /// The changed keys of `host`.
    @ElementsOrEmpty var host: [String]
    /// The number of requests whose task was removed.
    @OrDefault var parked: Int
    /// The number of requests whose task is in the manifest again.
    @OrDefault var unparked: Int

    package init(
        tasks: Names = Names(),
        plugins: Names = Names(),
        host: [String] = [],
        parked: Int = 0,
        unparked: Int = 0
    ) {
        self.tasks = tasks
        self.plugins = plugins
        self.host = host
        self.parked = parked
        self.unparked = unparked
    }

    /// Whether the manifest has no changes.
    var isEmpty: Bool { tasks.isEmpty && plugins.isEmpty && host.isEmpty }

    /// All changes in one line.
    package var summary: String {
        guard !isEmpty else { return "nothing has changed" }
        var parts: [String] = []
        if !tasks.isEmpty { parts.append("tasks: \(tasks.summary)") }
        if !plugins.isEmpty { parts.append("plugins: \(plugins.summary)") }
        if !host.isEmpty { parts.append("host: \(host.joined(separator: ", "))") }
        if parked > 0 { parts.append("requests parked: \(parked)") }
        if unparked > 0 { parts.append("requests that wait again: \(unparked)") }
        return parts.joined(separator: "; ")
    }
}
