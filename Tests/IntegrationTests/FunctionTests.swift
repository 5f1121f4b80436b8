// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import Testing

extension Integration {
    /// C functions as tasks.
    @Suite struct FunctionTests {
        /// The tasks of one function each.
        fileprivate static func manifest(
            _ functions: [(name: String, library: String, symbol: String, signature: String)],
            runtime: Duration = .seconds(20),
            grace: Duration = .milliseconds(200)
        ) throws -> Manifest {
            var manifest = try TestManifest.witness()
            for function in functions {
                manifest.functions.append(
                    FunctionDefinition(
                        name: function.name,
                        library: function.library,
                        symbol: function.symbol,
                        signature: function.signature
                    )
                )
                manifest.tasks.append(
                    TaskDefinition(
                        identifier: try TestManifest.pattern(function.name),
                        handler: .function(name: function.name),
                        limits: RunLimits(runtime: runtime, grace: grace)
                    )
                )
            }
            return manifest
        }

        fileprivate static func callbacks() throws -> String {
            try Fixture.library(
                source: PackageRoot.path + "/Tests/Fixtures/Functions/callbacks.c"
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `Functions of system libraries take and return JSON`()
            async throws
        {
            let crc = "ulong(crc: ulong = 0, data: bytes, length: uint = lengthOf(data))"
            let manifest = try Self.manifest([
                ("crc", "libz.so.1", "crc32", crc),
                ("sql", "libsqlite3.so.0", "sqlite3_complete", "int(sql: string)"),
                ("length", "libc.so.6", "strlen", "size(text: string)"),
            ])
            try await withDaemon(manifest) { daemon in
                for (task, parameters, result) in [
                    ("crc", #"{"data":"123456789"}"#, "3421780262"),
                    ("sql", #"{"sql":"select 1;"}"#, "1"), ("sql", #"{"sql":"select"}"#, "0"),
                    ("length", #"{"text":"storm"}"#, "5"),
                ] {
                    let record = try await daemon.runBesideOthers(task, parameters)
                    #expect(record.outcome == .succeeded, "\(record.message)")
                    #expect(record.result == #"{"result":\#(result),"errno":0}"#)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Wrong parameters are refused before the call and name what is wrong`() async throws {
            let manifest = try Self.manifest([
                ("length", "libc.so.6", "strlen", "size(text: string)")
            ])
            try await withDaemon(manifest) { daemon in
                for (parameters, word) in [
                    (#"{}"#, "text"), (#"{"text":5}"#, "text"), (#"{"txt":"a"}"#, "txt"),
                ] {
                    let record = try await daemon.run("length", parameters)
                    #expect(record.outcome == .failed)
                    #expect(record.message.contains(word), "\(record.message)")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A function that is not there fails its run by name`() async throws {
            let manifest = try Self.manifest([
                ("symbol", "libc.so.6", "strlenn", "size(text: string)"),
                ("library", "libnowhere.so.9", "strlen", "size(text: string)"),
            ])
            try await withDaemon(manifest) { daemon in
                let symbol = try await daemon.run("symbol", #"{"text":"a"}"#)
                #expect(symbol.outcome == .failed)
                #expect(symbol.message.contains("strlenn"), "\(symbol.message)")
                let library = try await daemon.run("library", #"{"text":"a"}"#)
                #expect(library.outcome == .failed)
                #expect(library.message.contains("libnowhere.so.9"), "\(library.message)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A function that checks for cancellation ends within its grace`() async throws {
            let manifest = try Self.manifest(
                [("poll", try Self.callbacks(), "poll_cancelled", "int(cancelled)")],
                runtime: .milliseconds(200),
                grace: .seconds(10)
            )
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.runBesideOthers("poll")
                #expect(record.outcome == .succeeded || record.outcome == .cancelledClean)
                #expect(record.stopReason == .expired)
                #expect(try #require(record.duration) >= .milliseconds(200))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A function that ignores cancellation is killed after its grace`() async throws {
            let manifest = try Self.manifest(
                [("pause", "libc.so.6", "pause", "int()")],
                runtime: .milliseconds(200)
            )
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.runBesideOthers("pause")
                #expect(record.outcome == .killed(.graceExceeded))
                let duration = try #require(record.duration)
                #expect(
                    duration >= .milliseconds(400) && duration < .milliseconds(1400),
                    "\(duration), \(daemon.timeline(of: record))"
                )
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A function ends its run by done, and only once`() async throws {
            let manifest = try Self.manifest([
                ("once", try Self.callbacks(), "done_at_once", "int(status: int, done)"),
                ("twice", try Self.callbacks(), "done_twice", "void(done)"),
            ])
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.run("once", #"{"status":0}"#)
                #expect(record.outcome == .succeeded)
                #expect(try await daemon.run("once", #"{"status":-1}"#).outcome == .failed)
                #expect(try await daemon.run("twice").outcome == .succeeded)
                #expect(await daemon.host.runs(task: "twice", limit: 10).count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The crash of a function ends only its own run`() async throws {
            let manifest = try Self.manifest([("abort", "libc.so.6", "abort", "void()")])
            try await withDaemon(manifest) { daemon in
                let record = try await daemon.runBesideOthers("abort")
                #expect(record.outcome == .crashed(.signalled(6)))
            }
        }
    }
}

extension SeparateHosts {
    @Suite struct WornWorkerTests {
        @Test(.timeLimit(.minutes(15)))
        func `A worker that has handed out many callbacks is replaced, and no run suffers`()
            async
        {
            await #expect(processExitsWith: .success) {
                // Two callbacks in each run.
                let manifest = try Integration.FunctionTests.manifest([
                    (
                        "twice", try Integration.FunctionTests.callbacks(), "keep",
                        "int(answer: int, cancelled, done) == 0"
                    )
                ])
                try await withDaemon(
                    manifest,
                    adjust: {
                        $0.log = HostLog(level: .warning)
                        // Idle ones would be replaced, too, on a machine that is busy for long.
                        $0.timeouts.idle = 3_600_000_000_000
                    }
                ) { daemon in
                    var workers: Set<Int32> = []
                    for _ in 0..<8_500 {
                        // In one step on the host's executor: there are many.
                        let record = try #require(
                            try await daemon.host.run(
                                Submission(task: "twice", parameters: #"{"answer":0}"#)
                            )
                        )
                        try #require(record.outcome == .succeeded, "\(record.message)")
                        if let pid = record.pid { workers.insert(pid) }
                    }
                    // A run that is submitted before the release of the last one may get another worker.
                    #expect((2...8).contains(workers.count), "\(workers.count)")
                }
            }
        }
    }
}
