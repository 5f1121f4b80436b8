// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostTestSupport
import BghostTransfer
import Testing

extension Integration {
    /// A server can tell the attempts of a run apart by what the daemon sends for it.
    @Suite(.timeLimit(.minutes(5))) struct FenceTests {
        @Test func `A transfer sends the epoch of its run, which the plugin cannot set`()
            async throws
        {
            let server = try FileServer(Array("content".utf8))
            defer { server.close() }
            try await withDaemon(TransferManifest.of(server), adjust: fullyDurable) { daemon in
                let parameters = TransferManifest.parameters(server)
                let record = try await daemon.run("await", parameters)
                #expect(record.outcome == .succeeded)
                #expect(record.epoch > 0)
                #expect(server.seen.map { $0.headers["x-bghost-fence"] } == ["\(record.epoch)"])
                let forged = TransferManifest.parameters(
                    server,
                    [("headers", "x-BGHOST-fence: 99999")]
                )
                #expect(try await daemon.run("await", forged).outcome != .succeeded)
                let line = try await daemon.line { $0.event == "call.refused" }
                #expect(line.message.contains("X-Bghost-Fence"))
                #expect(server.seen.count == 1)
                // A later run is a later epoch, and the same transfer for all else.
                let later = try await daemon.run("await", parameters)
                #expect(later.epoch > record.epoch)
                #expect(server.seen.last?.headers["x-bghost-fence"] == "\(later.epoch)")
            }
        }

        @Test func `A fetch sends the epoch of its run`() async throws {
            let server = try FileServer([1, 2, 3])
            defer { server.close() }
            let fetcher = HTTPFetcher()
            var manifest = try TransferManifest.of(server)
            manifest.plugins[0].library = try Fixture.library("hoard")
            manifest.sessions = []
            manifest.tasks = [try TestManifest.task("read", "t", "read", nil)]
            try await withDaemon(manifest, adjust: { $0.fetcher = fetcher }) { daemon in
                let record = try await daemon.run(
                    "read",
                    #"{"url": "\#(server.url)", "count": "1", "sum": "6"}"#
                )
                #expect(record.result == "1", "\(record)")
                #expect(server.seen.map { $0.headers["x-bghost-fence"] } == ["\(record.epoch)"])
                #expect(server.seen.first?.headers["idempotency-key"] == nil)
            }
            await fetcher.shutDown()
        }
    }
}
