// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Testing

extension Integration {
    /// What a wake is told of a download that went on after a restart.
    @Suite struct ResumedTransferTests {
        @Test(.timeLimit(.minutes(5)))
        func `A resumed download has the answer of a whole one, and what a second begin set`()
            async throws
        {
            let folder = try TemporaryDirectory()
            let hold = 200_000
            try await withFile(holdAt: hold) { server in
                let manifest = try TransferManifest.of(server)
                let plain = TransferManifest.parameters(server)
                let more = [("label", "a map"), ("continuation", "go on \"here\"")]
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    let first = try await daemon.run("begin", plain)
                    await server.held()
                    let second = try await daemon.run(
                        "begin",
                        TransferManifest.parameters(server, more)
                    )
                    let third = try await daemon.run("begin", plain)
                    var ids: Set<String> = []
                    for run in [first, second, third] {
                        #expect(run.outcome == .succeeded)
                        ids.insert(try await daemon.said("began", LogFilter(run: run.id)))
                    }
                    #expect(ids.count == 1)
                    var bytes: Int64 = 0
                    while bytes < hold / 2 {
                        bytes = await daemon.host.transfers().first?.bytes ?? 0
                    }
                }
                server.release()
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    let told = try await daemon.told("told")
                    let end = try #require(told["transfers"]?.array?.first)
                    #expect(told["transfers"]?.array?.count == 1)
                    #expect(end["state"]?.string == "done" && end["status"]?.int64 == 200)
                    #expect(end["bytes"]?.int64 == Int64(server.content.count))
                    #expect(end["label"]?.string == "a map")
                    #expect(end["continuation"]?.string == "go on \"here\"")
                    var headers: [String: String] = [:]
                    for header in end["headers"]?.array ?? [] {
                        headers[header.array?.first?.string ?? ""] = header.array?.last?.string
                    }
                    #expect(headers["content-length"] == String(server.content.count))
                    #expect(headers["content-range"] == nil && headers["etag"] == "\"v1\"")
                }
                #expect(server.seen.count == 2)
                #expect(try #require(server.seen.last?.rangeStart) >= hold / 2)
            }
        }
    }
}
