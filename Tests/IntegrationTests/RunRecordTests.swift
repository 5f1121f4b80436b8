// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import BghostTrust
import Testing

extension Integration {
    /// The record of a run, and the names that its handler gets.
    @Suite struct RunRecordTests {
        @Test(.timeLimit(.minutes(5)))
        func `A run records what was run`() async throws {
            var manifest = try TestManifest.runtime("print")
            manifest.digest = "ab"
            try await withDaemon(manifest, adjust: { durable(&$0) }) { daemon in
                for _ in 0..<2 {
                    let run = try await daemon.run("task", #"{"lines":1}"#)
                    let stored = try #require(await daemon.host.runs(task: "task", limit: 1).first)
                    for record in [run, stored] {
                        #expect(record.kind == .refresh)
                        let library = Artifact.path("libRuntimePlugin.so")
                        let digest = try #require(LibraryDigest.sha256(path: library))
                        let origin = RunOrigin(version: "1.2.3", library: digest, manifest: "ab")
                        #expect(record.origin == origin)
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A handler gets the idempotency key of its request and the epoch of its run`()
            async throws
        {
            try await withDaemon(try TestManifest.runtime("identity")) { daemon in
                var last: UInt64 = 0
                for _ in 0..<2 {
                    let record = try await daemon.run("task")
                    let told = try JSONReader.parse(record.result)
                    #expect(told["run"]?.string == record.id.description)
                    #expect(told["key"]?.string == record.request.description)
                    #expect(told["epoch"]?.uint64 == record.epoch)
                    #expect(record.epoch > last)
                    last = record.epoch
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A failed run records the type of its error`() async throws {
            try await withDaemon(try TestManifest.runtime("throw")) { daemon in
                let run = try await daemon.run("task")
                #expect(run.outcome == .failed && run.message == "lie")
                let error = RunError(type: "RuntimePlugin.CakeError")
                #expect(run.details?.error == error)
                let stored = try #require(await daemon.host.runs(task: "task", limit: 1).first)
                #expect(stored.details?.error == error)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A request of a Swift handler says in which run it was made`() async throws {
            let manifest = try TestManifest.runtime("submit", runsPerWorker: 4)
            try await withDaemon(manifest) { daemon in
                // The request waits for the end of the run that its task has already, in the same
                // worker, so that the worker cannot guess which of the two submits.
                _ = try await daemon.begin("long")
                let run = try await daemon.run("task", #"{"task":"long"}"#)
                #expect(run.outcome == .succeeded, "\(run.message)")
                let pending = await daemon.host.pending(task: "long", limit: 10)
                #expect(pending.requests.map(\.submitter) == [.run(run.id)])
            }
        }
    }
}
