// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    /// Reads the tags of a task; reports one that the task names twice, and too many.
    func tags(_ entry: ManifestEntry) -> [String] {
        let nodes = entry.node["tags"]?.array ?? []
        if nodes.count > TaskTag.countMax {
            collector.report(
                .badTags,
                at: nodes[TaskTag.countMax].span,
                in: entry.source,
                "task \(entry.name.quoted) has \(nodes.count) tags",
                label: "at most \(TaskTag.countMax)",
                help: "remove some"
            )
        }
        var tags: [String] = []
        for node in nodes.prefix(TaskTag.countMax) {
            guard let tag = node.string else { continue }
            if tags.contains(where: { $0.isSameText(as: tag) }) {
                collector.report(
                    .badTags,
                    at: node.span,
                    in: entry.source,
                    "task \(entry.name.quoted) has the tag \(tag.quoted) twice",
                    help: "remove one of the two"
                )
            }
            tags.append(tag)
        }
        return tags
    }

    /// Reads what follows the success of a task; `ReferenceCheck` reports what does not fit.
    func followers(_ entry: ManifestEntry) -> [TaskFollower] {
        let nodes = entry.node["then"]?.array ?? []
        return nodes.prefix(TaskFollower.countMax).compactMap { node in
            guard let task = (node["task"] ?? node).string else { return nil }
            return TaskFollower(
                task: task,
                takesResult: node["parameters"]?.string == "result",
                onConflict: node["onConflict"]?.string.flatMap(ConflictPolicy.init(rawValue:))
                    ?? .replace
            )
        }
    }
}
