// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel
internal import BghostSchemas

/// Checks that the properties of a task are compatible with one another.
struct TaskCheck {
    /// Describes the error in parameters for a signature; `nil` if they are valid.
    ///
    /// The last argument says whether the parameters must be complete.
    typealias ParameterProblem = (_ text: String, _ signature: String, _ isComplete: Bool) ->
        String?

    let collector: DiagnosticCollector
    /// The functions of the manifest, by name.
    let functions: [String: FunctionDefinition]
    let parameterProblem: ParameterProblem

    func check(_ task: TaskDefinition, _ entry: ManifestEntry) {
        checkParameters(of: task, entry)
        checkSchema(of: task, entry)
        checkInterval(of: task, entry)
        checkRandomDelay(of: task, entry)
    }

    private func checkParameters(of task: TaskDefinition, _ entry: ManifestEntry) {
        guard case .function(let name) = task.handler, let function = functions[name] else {
            return
        }
        guard
            let problem = parameterProblem(
                task.parameters,
                function.signature,
                task.isComplete
            )
        else { return }
        collector.report(
            .badFunctionParameters,
            at: entry.node["parameters"]?.span ?? entry.keySpan,
            in: entry.source,
            "task \(entry.name.quoted) cannot call function \(name.quoted): \(problem)",
            help: "the signature is \(function.signature.quoted)"
        )
    }

    private func checkSchema(of task: TaskDefinition, _ entry: ManifestEntry) {
        guard let node = entry.node["parametersSchema"], node.object != nil else { return }
        let schema: ParameterSchema
        do throws(SchemaError) {
            schema = try ParameterSchema(node)
        } catch {
            return collector.report(
                .badParametersSchema,
                at: error.span,
                in: entry.source,
                "`parametersSchema` of task \(entry.name.quoted) cannot be used: \(error)"
            )
        }
        let parameters = entry.node["parameters"]
        for fault in schema.faults(in: task.parameters, isComplete: task.isComplete) {
            let place = parameters?.find(pointer: fault.pointer) ?? parameters
            collector.report(
                .wrongParameters,
                at: place?.span ?? entry.keySpan,
                in: entry.source,
                "task \(entry.name.quoted) does not fit its `parametersSchema`: \(fault)"
            )
        }
    }

    private func checkRandomDelay(of task: TaskDefinition, _ entry: ManifestEntry) {
        guard let node = entry.node["randomDelay"] else { return }
        guard let schedule = task.schedule else {
            // Without a schedule because of another fault, that one is reported.
            guard ["every", "calendar"].allSatisfy({ entry.node[$0] == nil }) else { return }
            return collector.report(
                .badRandomDelay,
                at: entry.node.object?.first { $0.key == "randomDelay" }?.keySpan ?? node.span,
                in: entry.source,
                "task \(entry.name.quoted) has a `randomDelay` but no schedule whose starts it delays",
                help: "write a `calendar`, `every` or `onBoot`, or remove `randomDelay`"
            )
        }
        guard let spacing = schedule.leastSpacing, schedule.randomDelay >= spacing else { return }
        let least = TaskSchedule.text(of: spacing)
        collector.report(
            .badRandomDelay,
            at: node.span,
            in: entry.source,
            "task \(entry.name.quoted) may start \(node.string ?? "") late, but its next start may come"
                + " \(least) after the one before",
            label: "not shorter than \(least)",
            help: "shorten `randomDelay` to less than \(least), or let the task start less often"
        )
    }

    /// Checks only values that the manifest states; a default says nothing about this task.
    private func checkInterval(of task: TaskDefinition, _ entry: ManifestEntry) {
        guard case .every(let interval) = task.schedule?.times, task.overlap != .allow,
            let runtime = entry.node["limits"]?["runtime"], let every = entry.node["every"],
            task.limits.runtime > interval
        else { return }
        collector.report(
            .runtimeExceedsInterval,
            severity: .warning,
            at: runtime.span,
            in: entry.source,
            "task \(entry.name.quoted) may run for \(runtime.string ?? ""), but is due every"
                + " \(every.string ?? "")",
            label: "longer than `every`",
            help: "shorten `runtime`, lengthen `every`, or set `overlap` to \"allow\""
        )
    }
}
