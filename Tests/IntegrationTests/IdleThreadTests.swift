// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension SeparateHosts {
    /// What it costs the daemon to watch workers with very many threads.
    @Suite struct IdleThreadTests {
        @Test(
            .timeLimit(.minutes(10)),
            .enabled(if: geteuid() == 0, "other users may have no 25,000 threads")
        )
        func `Six workers with 4095 idle threads each cost less than a quarter of a core`() async {
            await #expect(processExitsWith: .success) {
                var manifest = Manifest()
                let names = (0..<6).map { "idler\($0)" }
                for name in names {
                    manifest.plugins.append(
                        PluginDefinition(
                            name: name,
                            library: try Fixture.library("idler"),
                            // So that their trees are looked at too.
                            limits: WorkerLimits(memoryBytes: 1 << 30, processes: 2)
                        )
                    )
                    let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(500))
                    manifest.tasks.append(try TestManifest.task(name, name, "crowd", limits))
                }
                // The time over which it is measured: that of a function, which has a worker of its own.
                manifest.functions.append(
                    FunctionDefinition(
                        name: "pause",
                        library: "libc.so.6",
                        symbol: "pause",
                        signature: "int()"
                    )
                )
                manifest.tasks.append(
                    TaskDefinition(
                        identifier: try TestManifest.pattern("pause"),
                        handler: .function(name: "pause"),
                        limits: RunLimits(runtime: .seconds(8), grace: .milliseconds(500))
                    )
                )
                manifest.host.slots = 8
                try await withLonelyDaemon(manifest) { daemon in
                    var runs: [RunRecord] = []
                    for name in names { runs.append(try await daemon.begin(name)) }
                    for name in names {
                        let line = try await daemon.line(LogFilter(task: name)) {
                            $0.message.hasPrefix("threads ")
                        }
                        #expect(line.message == "threads 4095")
                    }
                    let clock = ContinuousClock()
                    // It begins once they all idle, however long a busy machine needs to start them.
                    _ = try await daemon.begin("pause")
                    let (start, before) = (clock.now, usedProcessorTime())
                    try await daemon.line(LogFilter(task: "pause")) { $0.event == "run.expiring" }
                    let (took, after) = (clock.now - start, usedProcessorTime())
                    let share = Duration.nanoseconds(Int64(after - before)) / took
                    print(
                        "watching 24,570 idle threads took \(share * 100) % of a core for \(took)"
                    )
                    // Without optimization on a busy machine it was 0.134.
                    #expect(share < 0.25, "\(share) of a core")
                    for run in runs { _ = await daemon.host.stop(run: run.id) }
                    for run in runs { _ = try await daemon.end(of: run) }
                }
            }
        }
    }
}
