// SPDX-License-Identifier: Apache-2.0

/// What people do with a notification comes back to its plugin as a run.
package enum NotificationAction {
    /// The handler that gets it.
    package static let handler = "notificationAction"
    /// The notification itself was opened, and none of its actions.
    package static let open = "default"
    /// The longest text that comes with one, bytes.
    package static let textBytesMax = 4 << 10

    /// The task of a plugin's answers: a family, for two of them may wait at once.
    ///
    /// - Returns: `nil` if the plugin's name cannot stand in an identifier.
    static func task(of plugin: PluginDefinition) -> TaskDefinition? {
        guard let identifier = IdentifierPattern("\(handler).\(plugin.name).*") else { return nil }
        return TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: plugin.name, handler: handler),
            kind: .notificationAction,
            overlap: .allow,
            origin: plugin.origin
        )
    }

    /// The identifier of one answer.
    package static func identifier(plugin: String, event: RunID) -> String {
        "\(handler).\(plugin).\(event)"
    }
}

extension Manifest {
    /// The tasks that it defines, and those that follow from what it permits.
    var allTasks: [TaskDefinition] {
        let own = Set(tasks.map(\.identifier.description))
        return tasks + sessions.compactMap(\.task)
            + plugins.filter(\.permissions.notify).compactMap(NotificationAction.task).filter {
                !own.contains($0.identifier.description)
            }
    }
}

extension NotificationRow {
    /// Why an answer to it makes no sense; `nil` if it does.
    package func problem(action: String, text: String?) -> String? {
        if (text?.utf8.count ?? 0) > NotificationAction.textBytesMax {
            return "the text has more than \(NotificationAction.textBytesMax) bytes"
        }
        guard action != NotificationAction.open,
            !content.actions.contains(where: { $0.id.isSameText(as: action) })
        else { return nil }
        let known = content.actions.map { "`\(PrintableText.escaped($0.id))`" }
        let near = Spelling.nearest(to: action, among: content.actions.map(\.id))
        return
            "\(label) has no action `\(PrintableText.escaped(String(action.prefix(80))))`: it has "
            + (["`\(NotificationAction.open)`"] + known).joined(separator: ", ")
            + (near.map { "; did you mean `\(PrintableText.escaped($0))`?" } ?? "")
    }
}
