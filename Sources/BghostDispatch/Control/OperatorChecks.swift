// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostModel
package import BghostPolicy
internal import BghostStore

extension Dispatcher {
    /// Throws if the manifest has no such task, and names the nearest one.
    package func requireTask(_ task: String) throws(OperatorRefusal) {
        guard scheduler.knows(task) else { throw noSuchTask(task) }
    }

    /// The refusal of a command for a task that does not exist.
    func noSuchTask(_ name: String) -> OperatorRefusal {
        .noSuchTask(name, nearest: scheduler.nearestName(to: name))
    }

    /// The refusal of a command for a plugin that does not exist.
    func noSuchPlugin(_ name: String) -> OperatorRefusal {
        let nearest = Spelling.nearest(to: name, among: scheduler.pluginNames)
        return OperatorRefusal(
            .noSuchPlugin,
            "the manifest has no plugin `\(PrintableText.escaped(String(name.prefix(200))))`",
            fix: nearest.map { "did you mean \($0)?" } ?? "`bghost status --json` lists them",
            candidates: nearest.map { [$0] } ?? []
        )
    }

    /// The tasks of the manifest that have a tag.
    ///
    /// Throws if there is none: the tag is misspelt, and a list of nothing would hide that.
    package func tasks(taggedWith tag: String) throws(OperatorRefusal) -> TaggedTasks {
        let tasks = scheduler.catalog.tasks(taggedWith: tag)
        guard tasks.isEmpty else { return tasks }
        throw .noSuchTag(tag, among: scheduler.catalog.tags)
    }

    /// Whether a task is one of a plugin, as the manifest in force has it; any thread may call it.
    ///
    /// - Parameter plugin: `nil` for all tasks.
    func taskCheck(
        ofPlugin plugin: String?
    ) throws(OperatorRefusal) -> (@Sendable (_ task: String) -> Bool)? {
        guard let plugin else { return nil }
        let catalog = scheduler.catalog
        guard catalog.hasPlugin(plugin) else { throw noSuchPlugin(plugin) }
        return { catalog.isTask($0, ofPlugin: plugin) }
    }
}

extension OperatorRefusal {
    /// The refusal of a cursor that another list made.
    static let badCursor = OperatorRefusal(
        .badCursor,
        "`cursor` is that of another list",
        fix: "give `next` of the page before, or no cursor for the first page"
    )
}

extension CommitQueue {
    /// Stores changes that have already taken effect, for an operator.
    ///
    /// - Parameter what: the effect, for the message if the changes cannot be stored.
    package nonisolated(nonsending) func store(
        _ changes: [StoreChange],
        _ what: String
    ) async throws(OperatorRefusal) {
        guard case .failure(let error) = await committed(audited(changes)) else { return }
        throw .notStored(error, what)
    }
}

extension OperatorRefusal {
    /// The refusal of a command that has taken effect, and whose change is not stored yet.
    ///
    /// - Parameter what: the effect.
    static func notStored(_ error: StoreError, _ what: String) -> OperatorRefusal {
        OperatorRefusal(
            .notStored,
            "\(what), but that is not stored yet: \(error.message)",
            fix:
                "check the disk: it is then stored by itself; repeat the command only if bghost ends"
                + " before that"
        )
    }
}
