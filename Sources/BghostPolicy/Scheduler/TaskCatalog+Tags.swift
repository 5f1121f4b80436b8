// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// Tags, by which operators select tasks of the manifest in force.
extension TaskCatalog {
    /// The tasks of the manifest that have a tag; it costs a look at each task.
    package func tasks(taggedWith tag: String) -> TaggedTasks {
        var tagged = TaggedTasks()
        for index in currentTasks {
            let task = tasks[index]
            tagged.add(task.identifier, hasTag: task.tags.contains(tag))
        }
        tagged.finish()
        return tagged
    }

    /// All tags of the manifest.
    package var tags: Set<String> {
        currentTasks.reduce(into: []) { $0.formUnion(tasks[$1].tags) }
    }

    /// The indices of the tasks that have a tag; `nil` for no tag.
    func definitions(taggedWith tag: String?) -> Set<Int>? {
        guard let tag else { return nil }
        return Set(currentTasks.filter { tasks[$0].tags.contains(tag) })
    }
}
