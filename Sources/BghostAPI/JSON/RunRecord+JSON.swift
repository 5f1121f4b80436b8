// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension JSONWriter {
    /// Writes a run as an object.
    package mutating func value(_ run: RunRecord) {
        object { writer in
            writer.member("id", run.id.description)
            writer.member("request", run.request.description)
            writer.member("task", run.task)
            writer.member("plugin", run.plugin)
            writer.member("kind", run.kind?.rawValue)
            writer.member("pluginVersion", run.origin?.version)
            writer.member("librarySHA256", run.origin?.library)
            writer.member("manifestSHA256", run.origin?.manifest)
            writer.member("attempt", run.attempt)
            writer.member("epoch", run.epoch)
            writer.member("state", run.state.rawValue)
            writer.member("outcome", run.outcome?.text)
            writer.member("stopReason", run.stopReason?.text)
            writer.member("message", run.message)
            writer.key("result")
            // A result that is no JSON is not ours to repair, and must not break the answer.
            if let result = try? JSONReader.parse(run.result) {
                writer.value(result)
            } else {
                writer.null()
            }
            writer.key("progress")
            writer.value(run.progress)
            writer.member("startedAt", time: run.startedAt)
            writer.member("endedAt", time: run.endedAt)
            writer.member("submittedAt", time: run.submittedAt)
            writer.member("durationSeconds", duration: run.duration)
            writer.member("limitSeconds", duration: run.limits.runtime)
            writer.member("graceSeconds", duration: run.limits.grace)
            writer.member("cpuSeconds", duration: run.usage.cpu)
            writer.key("peakMemoryBytes")
            writer.optional(run.usage.peakMemoryBytes)
            writer.member("outputBytes", run.usage.outputBytes)
            writer.key("pid")
            writer.optional(run.pid)
            writer.key("crash")
            if let crash = run.details?.crash { crash.write(to: &writer) } else { writer.null() }
            // Only where it is asked for: a list of runs has none.
            if let output = run.details?.output, !output.isEmpty {
                writer.member("output", output)
            }
        }
    }

    private mutating func value(_ progress: RunProgress?) {
        guard let progress else { return null() }
        object { writer in
            writer.member("done", progress.done)
            writer.member("total", progress.total)
            writer.member("phase", progress.phase)
        }
    }
}

extension RunRecord {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let id = json.runID("id"), let request = json.runID("request"),
            let task = json["task"]?.string, let plugin = json["plugin"]?.string,
            let state = json["state"]?.string.flatMap(RunState.init(rawValue:)),
            let submittedAt = json.time("submittedAt"),
            let runtime = json.duration("limitSeconds"), let grace = json.duration("graceSeconds")
        else { return nil }
        self.init(
            id: id,
            request: request,
            task: task,
            plugin: plugin,
            attempt: json["attempt"]?.int64.map(Int.init(clamping:)) ?? 1,
            epoch: json["epoch"]?.int64.map(UInt64.init(clamping:)) ?? 0,
            state: state,
            outcome: json["outcome"]?.string.flatMap { Outcome(text: $0) },
            stopReason: json["stopReason"]?.string.flatMap { StopReason(text: $0) },
            message: json["message"]?.string ?? "",
            result: json["result"].map { $0.isNull ? "" : $0.text } ?? "",
            progress: json["progress"].flatMap(RunProgress.init(json:)),
            limits: RunLimits(runtime: runtime, grace: grace),
            pid: json["pid"]?.int64.flatMap(Int32.init(exactly:)),
            submittedAt: submittedAt,
            startedAt: json.time("startedAt"),
            endedAt: json.time("endedAt"),
            duration: json.duration("durationSeconds"),
            usage: RunUsage(
                cpu: json.duration("cpuSeconds"),
                peakMemoryBytes: json["peakMemoryBytes"]?.uint64,
                outputBytes: json["outputBytes"]?.int64.map(Int.init(clamping:)) ?? 0
            ),
            kind: json["kind"]?.string.flatMap { TaskKind(rawValue: $0) },
            origin: RunOrigin(json: json),
            details: RunDetails(json: json)
        )
    }
}

extension RunProgress {
    fileprivate init?(json: JSONNode) {
        guard let done = json["done"]?.uint64, let total = json["total"]?.uint64 else { return nil }
        self.init(done: done, total: total, phase: json["phase"]?.string ?? "")
    }
}

extension RunOrigin {
    fileprivate convenience init?(json: JSONNode) {
        guard let version = json["pluginVersion"]?.string,
            let library = json["librarySHA256"]?.string,
            let manifest = json["manifestSHA256"]?.string
        else { return nil }
        self.init(version: version, library: library, manifest: manifest)
    }
}

extension RunDetails {
    fileprivate convenience init?(json: JSONNode) {
        let crash = json["crash"].flatMap { $0.isNull ? nil : CrashReport(json: $0) }
        let output = json["output"]?.string ?? ""
        guard crash != nil || !output.isEmpty else { return nil }
        self.init(crash: crash, output: output)
    }
}
