// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// A run.
    package struct Run: Codable, Equatable, Sendable {
        /// The id of the run.
        @Formatted<ULID> package var id: RunID
        /// The id of its request.
        @Formatted<ULID> package var request: RunID
        /// The identifier of its task.
        package var task: String
        /// The plugin or function that runs the task.
        package var plugin: String
        /// The kind of its task; null in runs of older versions.
        @OrNull package var kind: TaskKind?
        /// The version of the plugin, "" for a function; null while it is unknown.
        @OrNull package var pluginVersion: String?
        /// The SHA-256 of the library in hexadecimal digits, "" for a function; null while it is unknown.
        @OrNull package var librarySHA256: String?
        /// The SHA-256 of the manifest's text in hexadecimal digits; null while it is unknown.
        @OrNull package var manifestSHA256: String?
        /// The number of this run among those of its request, from 1.
        @OrNull package var attempt: Int?
        /// The fencing token: greater than that of all earlier runs.
        @OrDefault package var epoch: UInt64
        /// Whether it starts, runs, is being cancelled or killed, or has ended.
        package var state: RunState
        /// How it ended, such as `succeeded` or `killed(memory)`; null before its end.
        @OrNull package var outcome: String?
        /// Why it was cancelled, such as `expired`; null if it was not.
        @OrNull package var stopReason: String?
        /// One line for people: the message of the handler, or that of the daemon about a failure.
        @OrDefault package var message: String
        /// The handler's result; null if it has none, or one that is not JSON.
        @OrNull package var result: JSONPart?
        /// The last progress that the handler reported; null if it reported none.
        @OrNull package var progress: Progress?
        /// When the handler started; null if it did not.
        @FormOrNull<RFC3339> package var startedAt: Int64?
        /// When the run ended; null before its end.
        @FormOrNull<RFC3339> package var endedAt: Int64?
        /// When its request was submitted.
        @Formatted<RFC3339> package var submittedAt: Int64
        /// The time from the start of the handler to the end of the run, seconds.
        @FormOrNull<Seconds> package var durationSeconds: Duration?
        /// Its maximum runtime, seconds.
        @Formatted<Seconds> package var limitSeconds: Duration
        /// The time to stop after it is cancelled, seconds.
        @Formatted<Seconds> package var graceSeconds: Duration
        /// The processor time of its worker during the run, seconds; null if it was not measured.
        @FormOrNull<Seconds> package var cpuSeconds: Duration?
        /// The peak resident memory of its worker, bytes; null if it was not measured.
        @OrNull package var peakMemoryBytes: UInt64?
        /// Its output on stdout, stderr and the log, including dropped output, bytes.
        @OrDefault package var outputBytes: Int
        /// The process id of its worker; null without a worker.
        @OrNull package var pid: Int32?
        /// Why its worker crashed or did not stop; null if it is unknown, or if there was no crash.
        @OrNull package var crash: Crash?
        /// The error with which its handler failed; absent if it did not fail, or did not say.
        @OrAbsent package var error: RunError?
        /// The first and the last lines of its output, at most 64 KiB; absent in lists of runs, and if it has none.
        @OrAbsent package var output: String?
        /// The checkpoint that its request has now; absent in lists of runs, and if it has none.
        @OrAbsent package var checkpoint: Checkpoint?
        /// Its place in a trace, as W3C Trace Context has it; absent if it has none.
        @OrAbsent package var traceparent: String?
        /// What vendors add to `traceparent`; absent if there is nothing.
        @OrAbsent package var tracestate: String?
        /// The id of the span from which its request was submitted; absent if there was none.
        @OrAbsent package var traceParentSpan: String?
        /// The run in which its request was submitted, or whose success its request followed; absent if there
        /// was none.
        @FormOrAbsent<ULID> package var submitterRun: RunID?
    }

    /// The progress of a run.
    package struct Progress: Codable, Equatable, Sendable {
        /// The finished units of work.
        package var done: UInt64
        /// All units of work; 0 if the number is unknown.
        package var total: UInt64
        /// What the handler does, a few words.
        @OrDefault package var phase: String

        package init(_ progress: RunProgress) {
            done = progress.done
            total = progress.total
            phase = progress.phase
        }
    }

    /// The error with which a handler failed, as its plugin says.
    package struct RunError: Codable, Equatable, Sendable {
        /// The name of its type; "" if it is unknown.
        @OrDefault package var type: String
        /// The source file in which it was made; "" if it is unknown.
        @OrDefault package var file: String
        /// The line of the file; 0 if it is unknown.
        @OrDefault package var line: Int

        package init(_ error: BghostModel.RunError) {
            type = error.type
            file = error.file
            line = Int(error.line)
        }
    }

    /// What is known about the crash of a worker.
    package struct Crash: Codable, Equatable, Sendable {
        /// The last line on stderr; "" if there is none.
        @OrDefault package var line: String
        /// The faulting instruction as library and offset, and its function; "" if it is unknown.
        @OrDefault package var place: String
        /// The faulting memory address in hexadecimal digits; "" if the signal has none.
        @OrDefault package var address: String
        /// The stacks of the threads that could be read.
        @ElementsOrEmpty package var stacks: [Stack]

        /// The stack of one thread.
        package struct Stack: Codable, Equatable, Sendable {
            /// The name and the id of the thread.
            @OrDefault package var thread: String
            /// The frames in the format of `place`, the innermost first.
            @ElementsOrEmpty package var frames: [String]
        }
    }
}

extension API.Run {
    package init(_ run: RunRecord) {
        self.init(
            id: run.id,
            request: run.request,
            task: run.task,
            plugin: run.plugin,
            kind: run.kind,
            pluginVersion: run.origin?.version,
            librarySHA256: run.origin?.library,
            manifestSHA256: run.origin?.manifest,
            attempt: run.attempt,
            epoch: run.epoch,
            state: run.state,
            outcome: run.outcome?.text,
            stopReason: run.stopReason?.text,
            message: run.message,
            result: run.result.isEmpty ? nil : JSONPart(run.result),
            progress: run.progress.map(API.Progress.init),
            startedAt: run.startedAt,
            endedAt: run.endedAt,
            submittedAt: run.submittedAt,
            durationSeconds: run.duration,
            limitSeconds: run.limits.runtime,
            graceSeconds: run.limits.grace,
            cpuSeconds: run.usage.cpu,
            peakMemoryBytes: run.usage.peakMemoryBytes,
            outputBytes: run.usage.outputBytes,
            pid: run.pid,
            crash: run.details?.crash.map(API.Crash.init),
            error: run.details?.error.map(API.RunError.init),
            output: run.details.flatMap { $0.output.isEmpty ? nil : $0.output },
            checkpoint: run.details?.checkpoint.map(API.Checkpoint.init),
            traceparent: run.trace?.context.traceparent,
            tracestate: run.trace.flatMap { $0.context.state.isEmpty ? nil : $0.context.state },
            traceParentSpan: run.trace.flatMap {
                $0.parent == 0 ? nil : TraceContext.hex($0.parent)
            },
            submitterRun: run.submitterRun
        )
    }

    private var trace: RunTrace? {
        // A form that only a newer daemon writes counts as none.
        guard let traceparent,
            let context = try? TraceContext(traceparent: traceparent, tracestate: tracestate ?? "")
        else { return nil }
        return RunTrace(
            context: context,
            parent: traceParentSpan.flatMap { UInt64($0, radix: 16) } ?? 0,
            since: submittedAt
        )
    }

    /// The run, with 1 for an absent `attempt`, and without an outcome or a reason that this version does
    /// not know.
    package var record: RunRecord {
        var origin: RunOrigin?
        if let pluginVersion, let librarySHA256, let manifestSHA256 {
            origin = RunOrigin(
                version: pluginVersion,
                library: librarySHA256,
                manifest: manifestSHA256
            )
        }
        var details: RunDetails?
        if crash != nil || error != nil || !(output ?? "").isEmpty || checkpoint != nil {
            details = RunDetails(
                crash: crash?.report,
                error: error.map {
                    BghostModel.RunError(
                        type: $0.type,
                        file: $0.file,
                        line: UInt32(clamping: $0.line)
                    )
                },
                output: output ?? "",
                checkpoint: checkpoint?.summary(request: request, task: task, plugin: plugin)
            )
        }
        return RunRecord(
            id: id,
            request: request,
            task: task,
            plugin: plugin,
            attempt: attempt ?? 1,
            epoch: epoch,
            state: state,
            outcome: outcome.flatMap { Outcome(text: $0) },
            stopReason: stopReason.flatMap { StopReason(text: $0) },
            message: message,
            result: result?.text ?? "",
            progress: progress.map {
                RunProgress(done: $0.done, total: $0.total, phase: $0.phase)
            },
            limits: RunLimits(runtime: limitSeconds, grace: graceSeconds),
            pid: pid,
            submittedAt: submittedAt,
            startedAt: startedAt,
            endedAt: endedAt,
            duration: durationSeconds,
            usage: RunUsage(
                cpu: cpuSeconds,
                peakMemoryBytes: peakMemoryBytes,
                outputBytes: outputBytes
            ),
            kind: kind,
            origin: origin,
            details: details,
            trace: trace,
            submitterRun: submitterRun
        )
    }
}

extension API.Crash {
    fileprivate init(_ report: CrashReport) {
        self.init(
            line: report.line,
            place: report.place,
            address: report.address,
            stacks: report.stacks.map { Stack(thread: $0.thread, frames: $0.frames) }
        )
    }

    fileprivate var report: CrashReport {
        CrashReport(
            line: line,
            place: place,
            address: address,
            stacks: stacks.map { CrashReport.ThreadStack(thread: $0.thread, frames: $0.frames) }
        )
    }
}
