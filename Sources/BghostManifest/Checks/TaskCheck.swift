// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

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
        checkInterval(of: task, entry)
    }

    private func checkParameters(of task: TaskDefinition, _ entry: ManifestEntry) {
        guard case .function(let name) = task.handler, let function = functions[name] else {
            return
        }
        // A request that the manifest submits has no parameters of its own.
        let isComplete = task.submitAtStart || task.schedule != nil
        guard let problem = parameterProblem(task.parameters, function.signature, isComplete) else {
            return
        }
        collector.report(
            .badFunctionParameters,
            at: entry.node["parameters"]?.span ?? entry.keySpan,
            in: entry.source,
            "task \(entry.name.quoted) cannot call function \(name.quoted): \(problem)",
            help: "the signature is \(function.signature.quoted)"
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
