// SPDX-License-Identifier: Apache-2.0

/// What another manifest has changed.
package struct ReloadReport: Equatable, Sendable {
    /// Names that came, changed and went, each in the manifest's order.
    package struct Names: Equatable, Sendable {
        package var added: [String]
        package var changed: [String]
        package var removed: [String]

        package init(added: [String] = [], changed: [String] = [], removed: [String] = []) {
            self.added = added
            self.changed = changed
            self.removed = removed
        }

        package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

        /// Such as "1 added, 2 changed"; "" if it is empty.
        package var summary: String {
            [(added, "added"), (changed, "changed"), (removed, "removed")]
                .filter { !$0.0.isEmpty }.map { "\($0.0.count) \($0.1)" }.joined(separator: ", ")
        }
    }

    package var tasks: Names
    /// Functions are among them.
    package var plugins: Names
    /// Keys of `host` that have another value.
    package var host: [String]
    /// Requests whose task was removed.
    package var parked: Int
    /// Requests whose task is back.
    package var unparked: Int

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

    /// Whether the manifest says what it said before.
    package var isEmpty: Bool { tasks.isEmpty && plugins.isEmpty && host.isEmpty }

    /// All of it in one line.
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
