// SPDX-License-Identifier: Apache-2.0

package import BghostModel
internal import BghostPolicy
package import BghostSchemas

/// Refuses submissions whose parameters do not fit the schemas of their task.
///
/// A schema comes from the manifest or from the table of a plugin, which a temporary worker reads. While
/// that is under way, submissions of clients wait. The host owns it. Use it on the reactor's thread only;
/// a check costs what `SchemaEvaluator` permits, at most.
package final class ParameterChecks {
    /// What is known of the schemas of a plugin.
    private enum Declared {
        case known(HandlerSchemas)
        case reading(Int, waiting: [CheckedContinuation<Void, Never>])
    }

    /// The most schemas of the manifest that are kept compiled.
    private static let compiledMax = 256
    /// The bytes of parameters beyond which the scheduler refuses them.
    private static let parametersBytesMax = 64 << 10

    private let dispatcher: Dispatcher
    private var plugins: [String: Declared] = [:]
    private var compiled: [String: ParameterSchema] = [:]
    private var lastReading = 0

    package init(_ dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
    }

    // MARK: The schemas of plugins

    /// Sets the schemas of a plugin.
    package func set(_ schemas: HandlerSchemas, for plugin: String) {
        let before = plugins.updateValue(.known(schemas), forKey: plugin)
        resume(before)
    }

    /// Forgets a plugin that has no schemas.
    package func forget(_ plugin: String) { resume(plugins.removeValue(forKey: plugin)) }

    /// Notes that the schemas of a plugin are being read.
    ///
    /// - Returns: the number for ``finishReading(_:_:_:)``.
    package func beginReading(_ plugin: String) -> Int {
        lastReading += 1
        var waiting: [CheckedContinuation<Void, Never>] = []
        if case .reading(_, let others) = plugins[plugin] { waiting = others }
        plugins[plugin] = .reading(lastReading, waiting: waiting)
        return lastReading
    }

    /// Sets the schemas that were read, unless a later version of the plugin has come meanwhile.
    ///
    /// - Returns: why parameters are not checked, one sentence for each handler.
    package func finishReading(
        _ number: Int,
        _ plugin: String,
        _ result: Result<HandlerSchemas, some Error>
    ) -> [String] {
        guard case .reading(number, _) = plugins[plugin] else { return [] }
        switch result {
        case .success(let schemas):
            set(schemas, for: plugin)
            return schemas.problems.sorted { $0.key < $1.key }.map {
                "parameters of handler `\($0)` are not checked, its schema cannot be used: \($1)"
            }
        case .failure(let failure):
            set(HandlerSchemas(), for: plugin)
            return ["parameters are not checked, its schemas could not be read: \(failure)"]
        }
    }

    private func resume(_ declared: Declared?) {
        guard case .reading(_, let waiting) = declared else { return }
        for continuation in waiting { continuation.resume() }
    }

    /// The schemas of a plugin, if it has some and they have been read.
    package func known(_ plugin: String) -> HandlerSchemas? {
        guard case .known(let schemas) = plugins[plugin] else { return nil }
        return schemas
    }

    // MARK: Checks

    /// The schemas of the parameters of a task or family: of the manifest, then of the handler.
    package func schemas(of task: String) -> [String] {
        let member = task.hasSuffix(".*") ? task.dropLast() + "x" : task
        guard let index = dispatcher.scheduler.catalog.task(for: member) else { return [] }
        let definition = dispatcher.scheduler.catalog.tasks[index]
        return [definition.parametersSchema, declared(for: definition)?.text].compactMap(\.self)
    }

    /// Checks a client's submission, once the schemas of its plugin are known.
    package nonisolated(nonsending) func require(
        _ submission: Submission
    ) async throws(SubmitError) {
        await waitForSchemas(of: submission.task)
        var steps = 0
        try check(submission, steps: &steps)
    }

    /// Checks a submission against the schemas that are known now.
    ///
    /// - Parameter steps: the steps that this took are added, of which each takes some 30 ns.
    package func check(_ submission: Submission, steps: inout Int) throws(SubmitError) {
        // The scheduler refuses a task that it does not know, and parameters that are too long.
        guard submission.parameters.utf8.count <= Self.parametersBytesMax,
            let index = dispatcher.scheduler.catalog.task(for: submission.task)
        else { return }
        let task = dispatcher.scheduler.catalog.tasks[index]
        // bghost itself makes the parameters of the other kinds.
        guard TaskKind.named.contains(task.kind) else { return }
        let rules = ParameterRules([schema(task.parametersSchema), declared(for: task)])
        let faults = rules.faults(
            base: task.parameters,
            over: submission.parameters,
            steps: &steps
        )
        guard !faults.isEmpty else { return }
        throw SubmitError(
            .unfitParameters,
            "the parameters of \(submission.task) do not fit their schema",
            details: faults.map(\.description)
        )
    }

    private nonisolated(nonsending) func waitForSchemas(of task: String) async {
        let catalog = dispatcher.scheduler.catalog
        guard !dispatcher.scheduler.isDraining, let index = catalog.task(for: task) else { return }
        let plugin = catalog.plugin(ofTask: index).name
        await withCheckedContinuation { continuation in
            guard case .reading(let number, var waiting) = plugins[plugin] else {
                return continuation.resume()
            }
            waiting.append(continuation)
            plugins[plugin] = .reading(number, waiting: waiting)
        }
    }

    private func declared(for task: TaskDefinition) -> ParameterSchema? {
        guard case .plugin(let plugin, let handler) = task.handler,
            case .known(let schemas) = plugins[plugin]
        else { return nil }
        return schemas.schemas[handler]
    }

    /// The compiled schema of a manifest, whose reader has checked it.
    private func schema(_ text: String?) -> ParameterSchema? {
        guard let text else { return nil }
        if let known = compiled[text] { return known }
        // The manifest's reader has refused a schema that does not compile.
        guard let schema = try? ParameterSchema(text) else { return nil }
        if compiled.count >= Self.compiledMax { compiled.removeAll() }
        compiled[text] = schema
        return schema
    }
}
