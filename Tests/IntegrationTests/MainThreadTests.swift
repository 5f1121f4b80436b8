// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostHost
import BghostModel
import BghostTestSupport
import Testing

extension Integration {
    /// Swift's main actor and the main queue in a worker.
    @Suite struct MainThreadTests {
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("main-actor", #"{"first":1,"isMain":1,"second":2,"third":3}"#),
                ("main-queue", #"{"later":3,"own":2,"real":1}"#),
                ("main-thread-is-free", ""),
            ]
        )
        func `The host serves the plugin's main thread`(handler: String, result: String)
            async throws
        {
            try await withDaemon(try TestManifest.runtime(handler)) { daemon in
                // Again in the same worker, which must go on serving.
                for _ in 0..<3 {
                    let record = try await daemon.run("task")
                    #expect(record.outcome == .succeeded, "\(record.message)")
                    let members = try JSONReader.parse(record.result.isEmpty ? "{}" : record.result)
                    let wanted = try JSONReader.parse(result.isEmpty ? "{}" : result)
                    for name in ["first", "second", "third", "isMain", "real", "own", "later"] {
                        #expect(members[name]?.int64 == wanted[name]?.int64, "\(name)")
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler on the main actor is cancelled, and cleans up there`() async throws {
            try await withDaemon(try TestManifest.runtime("main-until-cancelled")) { daemon in
                let run = try await daemon.begin("task")
                #expect(await daemon.host.expire(run: run.id))
                let record = try await daemon.end(of: run)
                #expect(record.outcome == .cancelledClean)
                try await daemon.line("cleaned up: -1", LogFilter(run: run.id))
            }
        }
    }
}
