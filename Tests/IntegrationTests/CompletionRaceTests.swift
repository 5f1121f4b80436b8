// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import Testing

extension SeparateHosts {
    /// A completion on another thread races with start()'s return.
    @Suite struct CompletionRaceTests {
        @Test(.timeLimit(.minutes(15)), arguments: ["plain", "with-release"])
        func `The daemon gets one completion, before the release`(handler: String) async {
            await #expect(processExitsWith: .success) { [handler] in
                let manifest = try TestManifest.plugin(
                    "elsewhere",
                    library: try Fixture.library("complete-elsewhere", flags: ["-pthread"]),
                    handler: handler
                )
                // A second worker may be used once, and must not end as idle before the end of a busy machine.
                try await withDaemon(
                    manifest,
                    adjust: { $0.timeouts.idle = 3_600_000_000_000 }
                ) { daemon in
                    var pids: Set<Int32?> = []
                    for _ in 0..<3000 {
                        let record = try #require(
                            try await daemon.host.run(Submission(task: "task"))
                        )
                        try #require(record.outcome == .succeeded, "\(record.message)")
                        pids.insert(record.pid)
                    }
                    // A worker that broke the rules, or was taken to, would be gone.
                    let workers = Set(await daemon.workers(of: "elsewhere"))
                    #expect(pids.compactMap { $0 }.allSatisfy { workers.contains($0) })
                }
            }
        }
    }
}
