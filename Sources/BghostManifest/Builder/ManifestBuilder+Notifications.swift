// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    /// Reads the section `notifications`; `nil` if there is none.
    func notifications(_ sources: [ManifestSource]) -> NotificationSettings? {
        let sections = sources.flatMap { source in
            source.members.filter { $0.key == "notifications" }.map { (source, $0) }
        }
        guard let (_, member) = sections.first else { return nil }
        for (source, other) in sections.dropFirst() {
            collector.report(
                .definedTwice,
                at: other.keySpan,
                in: source,
                "`notifications` is defined in an earlier file",
                help: "keep one of the two"
            )
        }
        let node = member.value
        guard let task = node["task"]?.string.flatMap({ IdentifierPattern($0) }) else { return nil }
        var settings = NotificationSettings(task: task)
        if let count = node["rate"]?["count"]?.int64 { settings.rate.count = Int(clamping: count) }
        settings.rate.per = duration(node["rate"]?["per"]) ?? settings.rate.per
        settings.expiry = duration(node["expiry"]) ?? settings.expiry
        if node["actionLink"]?.bool == true {
            settings.actionPort =
                node["actionPort"]?.int64.map { Int(clamping: $0) }
                ?? NotificationSettings.defaultActionPort
        }
        return settings
    }
}

extension ReferenceCheck {
    /// Checks that the task that delivers notifications is defined.
    func checkNotifications(_ sources: [ManifestSource]) {
        let known = tasks.map(\.name)
        for source in sources {
            guard let section = source.members.first(where: { $0.key == "notifications" })?.value,
                let node = section["task"], let name = node.string,
                IdentifierPattern(name) != nil
            else { continue }
            if let task = tasks.first(where: { $0.name == name }) {
                checkDelivery(by: task, at: node, in: source)
                continue
            }
            let near = Spelling.nearest(to: name, among: known.sorted())
            collector.report(
                .notDefined,
                at: node.span,
                in: source,
                "`notifications` names the task \(name.quoted), which is not defined",
                label: near.map { "did you mean \"\($0.escapedForMessage)\"?" },
                help: "name a task as it stands in `tasks`"
            )
        }
    }

    private func checkDelivery(by task: ManifestEntry, at node: JSONNode, in source: ManifestSource)
    {
        guard task.node["runs"]?.string == "inFleet" else { return }
        collector.report(
            .badInFleet,
            at: node.span,
            in: source,
            "`notifications` names the task \(task.name.quoted), whose requests live in the fleet",
            help: "name a task of this host: each host delivers its own notifications"
        )
    }
}
