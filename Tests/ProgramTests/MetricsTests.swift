// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// The metrics of the real daemon after real runs.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct MetricsTests {
    @Test func `Metrics count ended runs by task and outcome, and reading changes nothing`()
        throws
    {
        let folder = try TemporaryDirectory()
        let library = try Fixture.library("misbehave")
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"misbehave": {"library": "\(library)"},
                         "unused": {"library": "\(library)"}},
             "tasks": {
               "good.*": {"plugin": "misbehave", "handler": "succeed"},
               "bad": {"plugin": "misbehave", "handler": "fail"},
               "later": {"plugin": "misbehave", "handler": "succeed"}}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder)
        #expect(try daemon.command(["trigger", "good.one", "--wait"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "good.two", "--wait"]).exitCode == 0)
        #expect(try daemon.command(["trigger", "bad", "--wait"]).exitCode == 1)
        let submitted = try daemon.command([
            "submit", "later", "--earliest", "2190-01-01T00:00:00Z",
        ])
        #expect(submitted.exitCode == 0, "\(submitted)")
        #expect(try daemon.command(["submit", "unknown"]).exitCode != 0)
        let first = try daemon.command(["metrics"])
        #expect(first.exitCode == 0, "\(first)")
        // Readers refuse a last line without an end.
        #expect(first.output.hasSuffix("\n"))
        let lines = first.output.split(separator: "\n").map(String.init)
        for line in [
            #"bghost_runs_total{task="good.*",outcome="succeeded"} 2"#,
            #"bghost_runs_total{task="bad",outcome="failed"} 1"#,
            #"bghost_runs_total{task="later",outcome="succeeded"} 0"#,
            #"bghost_run_duration_seconds_count{plugin="misbehave"} 3"#,
            #"bghost_run_start_delay_seconds_count{plugin="misbehave"} 3"#,
            #"bghost_runs_active{plugin="misbehave"} 0"#,
            #"bghost_task_consecutive_failures{task="bad"} 1"#,
            #"bghost_task_next_run_timestamp_seconds{task="later"} 6942585600"#,
            #"bghost_plugin_state{plugin="unused",bghost_plugin_state="ready"} 1"#,
            "bghost_requests_pending 1", "bghost_slots_used 0", "bghost_store_failing 0",
            "bghost_requests_submitted_total 4",
            #"bghost_requests_refused_total{code="not_permitted"} 1"#,
            #"bghost_worker_starts_total{plugin="misbehave"} 1"#,
            "bghost_worker_start_seconds_count 1",
            #"bghost_worker_memory_bytes{plugin="unused"} 0"#,
            #"bghost_control_requests_total{endpoint="POST /v1/tasks/:id/trigger",answer="ok"} 3"#,
        ] {
            #expect(lines.contains(line), "\(line) is not in \(first.output)")
        }
        let layers = "bghost_sandbox_layers_missing"
        #expect(lines.contains { $0.hasPrefix(layers + #"{plugin="misbehave"} "#) })
        #expect(!lines.contains { $0.hasPrefix(layers + #"{plugin="unused"} "#) })
        for name in [
            "bghost_loop_turn_seconds_count", "bghost_store_commit_seconds_count",
            "bghost_store_size_bytes",
        ] {
            let line = lines.first { $0.hasPrefix(name + " ") }
            let value = line.flatMap { Double($0.dropFirst(name.count + 1)) }
            #expect((value ?? 0) > 0, "\(line ?? name)")
        }
        let second = try daemon.command(["metrics"])
        #expect(second.output.contains(#"task="good.*",outcome="succeeded"} 2"#))
        let json = try JSONReader.parse(try daemon.command(["metrics", "--json"]).output)
        #expect(json["schema"]?.string == "bghost.metrics/1")
        #expect(json["text"]?.string?.hasPrefix("# TYPE bghost_build_info gauge\n") == true)
        #expect(daemon.stop() == 0)
        #expect(try daemon.command(["metrics"]).exitCode == 3)
    }
}
