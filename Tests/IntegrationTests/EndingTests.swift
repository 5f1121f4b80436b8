// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// What handlers do, and the outcomes of their runs.
struct Ending: Sendable, CustomTestStringConvertible {
    var task: String
    var outcomes: [Outcome]
    var message: String?
    var line: String?

    init(_ task: String, _ outcomes: Outcome..., message: String? = nil, line: String? = nil) {
        self.task = task
        self.outcomes = outcomes
        self.message = message
        self.line = line
    }

    var testDescription: String { task }
}

extension Integration {
    /// Runs that end by what their handler does, right or wrong.
    @Suite struct EndingTests {
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                Ending("succeed", .succeeded),
                Ending("fail", .failed, message: "it went wrong"),
                Ending("retry", .failed, message: "later"),
                Ending(
                    "own-status",
                    .failed,
                    message: "it answered -1234 and gave no reason"
                ),
                Ending(
                    "unknown-status",
                    .failed,
                    message: "start() answered 7, which is no status of this ABI"
                ),
                Ending("complete-twice", .succeeded, message: "first", line: "second answered -10"),
                Ending("complete-late", .succeeded, message: "in time", line: "late answered -10"),
                Ending("invent-completions", .succeeded, line: "accepted 0"),
                Ending(
                    "oversized-result",
                    .succeeded,
                    message: "small",
                    line: "oversized answered -14"
                ),
                Ending(
                    "bad-json-result",
                    .succeeded,
                    message: "good",
                    line: "bad json answered -12"
                ),
                Ending(
                    "bad-utf8-message",
                    .failed,
                    message: "it answered -1 and gave no reason",
                    line: "bad message answered -12"
                ),
                Ending("bad-result-pointer", .succeeded, line: "refused 3"),
                Ending("odd-calls", .succeeded, line: "refused 9"),
                Ending("state-and-release", .succeeded, message: "done", line: "released 42"),
                Ending("leak-descriptors", .succeeded),
                Ending("crash-in-start", .crashed(.signalled(SIGSEGV))),
                Ending("abort-in-start", .crashed(.signalled(SIGABRT))),
                Ending("exit-in-start", .crashed(.exited(0))),
                Ending("crash-in-release", .succeeded),
            ]
        )
        func `A run has the outcome that its handler gives it`(ending: Ending) async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.runBesideOthers(ending.task)
                let outcome = try #require(record.outcome)
                #expect(ending.outcomes.contains(outcome), "\(outcome)")
                #expect(record.state == .ended)
                if let message = ending.message { #expect(record.message == message) }
                if let line = ending.line { try await daemon.line(line) }
                #expect(await daemon.host.runs(task: ending.task, limit: 10).count == 1)
                #expect(record.startedAt != nil && record.endedAt != nil && record.duration != nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler gets the parameters and answers with a result`() async throws {
            var manifest = try TestManifest.misbehave()
            let echo = try #require(manifest.tasks.firstIndex { $0.identifier.matches("echo") })
            manifest.tasks[echo].parameters = #"{"a":1,"b":{"c":[1,2]}}"#
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("echo", #"{"a":"é","d":null}"#)
                #expect(record.outcome == .succeeded)
                let result = try JSONReader.parse(Array(record.result.utf8), dialect: .strict)
                #expect(result["a"]?.string == "é")
                #expect(result["b"]?.text == #"{"c":[1,2]}"#)
                #expect(result["d"] != nil)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler finds single parameters by pointer`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.run(
                    "params",
                    #"{"text":"häll","number":12.5,"object":{"a":[true]}}"#
                )
                #expect(record.outcome == .succeeded)
                try await daemon.line("/text: 0 0 5 häll")
                try await daemon.line("/number: 0 0 4 12.5")
                try await daemon.line(#"/object: 0 0 12 {"a":[true]}"#)
                try await daemon.line("/absent: -16 -16 0 ")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The log has a handler's output with its run, even if it ends at once`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                // A warm worker: nothing but the run itself is in the way.
                _ = try await daemon.run("succeed")
                for _ in 0..<20 {
                    let record = try await daemon.run("stdout-lines")
                    #expect(record.outcome == .succeeded)
                    for (text, source) in [
                        ("out one", LogEntry.Source.stdout), ("out two", .stdout),
                        ("err one", .stderr), ("err two", .stderr),
                    ] {
                        let line = try await daemon.line(text, LogFilter(run: record.id))
                        #expect(line.source == source)
                        #expect(line.task == "stdout-lines")
                        #expect(line.plugin == "misbehave")
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Progress is visible during the run and stays in its record`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let run = try await daemon.begin("report-and-wait")
                var seen: RunProgress?
                while seen == nil {
                    await Task.yield()
                    let runs = await daemon.host.runs(task: run.task, limit: 1)
                    #expect(runs.first?.state == .running)
                    seen = runs.first?.progress
                }
                #expect(seen == RunProgress(done: 1, total: 2, phase: "half"))
                #expect(await daemon.host.expire(run: run.id))
                #expect(try await daemon.end(of: run).progress == seen)
                let record = try await daemon.run("progress")
                #expect(record.progress == RunProgress(done: 2, total: 2, phase: "second"))
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [[], ["THROW_C"]])
        func `A handler that throws over the boundary crashes its worker`(
            defines: [String]
        ) async throws {
            let library = try Fixture.library("throw", defines: defines)
            let manifest = try TestManifest.plugin("throw", library: library, handler: "throw")
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.runBesideOthers("task")
                #expect(record.outcome == .crashed(.signalled(SIGABRT)))
                #expect(record.plugin == "throw")
                // The library says on stderr what was thrown.
                try await daemon.line { $0.source == .stderr && $0.plugin == "throw" }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A malformed frame ends the worker, with the number of the fault`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.runBesideOthers("write-rubbish")
                guard case .killed(.protocolFault(let number)) = record.outcome else {
                    Issue.record("\(String(describing: record.outcome))")
                    return
                }
                #expect(number > 0)
                let line = try await daemon.line { $0.event == "worker.fault" }
                #expect(line.plugin == "misbehave")
                #expect(line.message.contains("fault \(number)"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker that completes another's run is killed, and that run continues`()
            async throws
        {
            try await withDaemon(try TestManifest.misbehave(overlap: .allow, slots: 8)) { daemon in
                let other = try await daemon.begin("honour-cancel")
                let record = try await daemon.runBesideOthers("forge-completion")
                #expect(record.outcome == .killed(.protocolFault(12)))
                let line = try await daemon.line { $0.event == "worker.fault" }
                #expect(line.plugin == "misbehave")
                #expect(line.message.hasPrefix("a frame is about a run that this worker does not"))
                #expect(await daemon.host.expire(run: other.id))
                #expect(try await daemon.end(of: other).outcome == .cancelledClean)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A worker that closes its socket is killed`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let record = try await daemon.runBesideOthers("close-descriptors")
                switch record.outcome {
                case .crashed, .lost, .killed(.protocolFault): break
                default: Issue.record("\(String(describing: record.outcome))")
                }
                // It does not wait for the end of the runtime.
                #expect(record.stopReason == nil)
            }
        }
    }
}
