// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
@testable import BghostHost
@testable import BghostLinux
import BghostModel
import BghostTestSupport
import BghostTransfer
import Glibc
import Testing

extension Integration {
    /// What the daemon writes for a plugin counts against `limits.data` of that plugin.
    @Suite struct TransferDataTests {
        private static let limit: UInt64 = 4 << 20

        private func manifest(_ server: FileServer) throws -> Manifest {
            var manifest = try TransferManifest.of(server)
            manifest.plugins[0].limits.dataBytes = Self.limit
            return manifest
        }

        private func begin(_ server: FileServer, _ daemon: RunningHost, _ name: String) async throws
        {
            let parameters = TransferManifest.parameters(
                server,
                [("file", daemon.transferFolder + "/" + name)]
            )
            #expect(try await daemon.run("begin", parameters).outcome == .succeeded)
        }

        private func expectBelowLimit(_ daemon: RunningHost) {
            let usage = FolderUsage(
                of: daemon.transferFolder,
                bytesMax: .max,
                entriesMax: 1000
            )
            #expect(usage.bytes <= Self.limit && usage.problem == nil, "\(usage)")
        }

        @Test(.timeLimit(.minutes(5)))
        func `A transfer above the data limit waits for room`()
            async throws
        {
            try await withFile(3 << 20) { server in
                let fetcher = HTTPFetcher()
                try await withDaemon(
                    try manifest(server),
                    adjust: { $0.fetcher = fetcher },
                    { daemon in
                        try await begin(server, daemon, "first")
                        try await daemon.line { $0.event == "transfer.ended" }
                        try await begin(server, daemon, "second")
                        let line = try await daemon.line {
                            $0.event == "transfer.changed" && $0.message.contains("is retrying")
                        }
                        #expect(line.message.contains("no room for it"), "\(line.message)")
                        #expect(line.message.contains("raise `limits.data`"), "\(line.message)")
                        expectBelowLimit(daemon)
                        // Its next attempt may begin at once, and fails again.
                        var waiting: [TransferView] = []
                        while waiting.isEmpty {
                            await Task.yield()
                            waiting = await daemon.host.transfers().filter {
                                $0.stateName == "retrying"
                            }
                        }
                        #expect(waiting.count == 1)
                        #expect(waiting.first?.fault.contains("no room for it") == true)
                        // This is no fault of the plugin, which continues and makes room.
                        let list = TransferManifest.parameters(server)
                        #expect(try await daemon.run("list", list).outcome == .succeeded)
                        #expect(daemon.count { $0.event == "plugin.data_limit" } == 0)
                        try #require(unlink(daemon.transferFolder + "/first") == 0)
                        var ended = 0
                        try await daemon.line { entry in
                            if entry.event == "transfer.ended" { ended += 1 }
                            return ended == 2
                        }
                        let second = try File.read(daemon.transferFolder + "/second")
                        #expect(second == server.content)
                        expectBelowLimit(daemon)
                    }
                )
                await fetcher.shutDown()
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A transfer that resumes after a restart counts the files that are there`()
            async throws
        {
            try await withFile(3 << 20, holdAt: 1 << 20) { server in
                let folder = try TemporaryDirectory()
                let manifest = try manifest(server)
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    try await begin(server, daemon, "first")
                    await server.held()
                }
                // With this file, the rest of the transfer does not fit.
                let file = [UInt8](repeating: 1, count: 3 << 20)
                try folder.write(file, to: "state/data/t/big")
                server.release()
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    try await daemon.line {
                        $0.event == "transfer.changed" && $0.message.contains("no room for it")
                    }
                    expectBelowLimit(daemon)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Several transfers at once share the room that there is`() async throws {
            try await withFile(3 << 19) { server in
                try await withDaemon(try manifest(server)) { daemon in
                    for name in ["a", "b", "c", "d"] { try await begin(server, daemon, name) }
                    // Two of 1.5 MiB fit.
                    var ended: Set<String> = []
                    var waiting: Set<String> = []
                    try await daemon.line { entry in
                        let id = String(entry.message.prefix { $0 != " " })
                        if entry.event == "transfer.ended" { ended.insert(id) }
                        if entry.event == "transfer.changed", entry.message.contains("no room") {
                            waiting.insert(id)
                        }
                        return ended.union(waiting).count == 4
                    }
                    #expect(ended.count == 2)
                    expectBelowLimit(daemon)
                    #expect(daemon.count { $0.event == "plugin.data_limit" } == 0)
                }
            }
        }
    }
}
