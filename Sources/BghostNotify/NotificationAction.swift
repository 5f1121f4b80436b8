// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// Answers to notifications; the plugin receives each as a run.
package enum NotificationAction {
    /// The name of the handler for answers.
    static let handler = "notificationAction"
    /// The action of opening the notification itself.
    static let open = "default"
    /// The longest text of an answer, bytes.
    static let textBytesMax = 4 << 10

    /// The task for the answers of a plugin: a family, because several answers may wait at once.
    ///
    /// - Returns: `nil` if the plugin's name is not valid in an identifier.
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

    /// The identifier of the request for one answer.
    package static func identifier(plugin: String, event: RunID) -> String {
        "\(handler).\(plugin).\(event)"
    }
}

extension Manifest {
    /// The tasks of the manifest, and those for its sessions and for answers to notifications.
    package var allTasks: [TaskDefinition] {
        let own = Set(tasks.map(\.identifier.description))
        return tasks + sessions.compactMap(\.task)
            + plugins.filter(\.permissions.notify).compactMap(NotificationAction.task).filter {
                !own.contains($0.identifier.description)
            }
    }
}

extension NotificationRow {
    /// Why the notification does not accept this answer; `nil` if it does.
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
