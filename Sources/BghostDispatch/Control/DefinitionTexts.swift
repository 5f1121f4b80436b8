// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostModel
internal import BghostPolicy

/// The definitions of some tasks as the manifest contains them.
package struct DefinitionTexts {
    private var texts: [String: TaskDefinitionText] = [:]

    /// It looks once at each definition of the manifest.
    ///
    /// - Parameter tasks: identifiers, or patterns of families.
    package init(_ manifest: Manifest, of tasks: [String], _ dispatcher: Dispatcher) {
        let catalog = dispatcher.scheduler.catalog
        var named: [String: [String]] = [:]
        for task in tasks {
            // A pattern is no identifier; its definition has its own name.
            let name = catalog.task(for: task).map { catalog.tasks[$0].identifier.description }
            named[name ?? task, default: []].append(task)
        }
        for definition in manifest.written.all where definition.kind == .task {
            guard let tasks = named[definition.name] else { continue }
            let text = TaskDefinitionText(
                place: definition.place,
                settings: definition.values.map { .init(key: $0.key, value: $0.text) }
            )
            for task in tasks { texts[task] = text }
        }
    }

    package subscript(task: String) -> TaskDefinitionText? { texts[task] }
}
