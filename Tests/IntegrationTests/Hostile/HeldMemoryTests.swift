// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostTestSupport
import BghostTransfer
import Testing

extension SeparateHosts {
    /// The daemon's memory for a plugin is bounded, also if the plugin does not read its answers.
    @Suite struct HeldMemoryTests {
        private static func manifest(_ server: FileServer) throws -> Manifest {
            var manifest = Manifest(
                plugins: [
                    PluginDefinition(
                        name: "hoard",
                        library: try Fixture.library("hoard"),
                        permissions: Permissions(
                            network: [NetworkGrant(host: "127.0.0.1", port: server.port)]
                        ),
                        maxPending: PendingLimits(refresh: 100_000, processing: 100_000)
                    )
                ]
            )
            for handler in ["read", "hoard", "fill"] {
                let limits = RunLimits(runtime: .seconds(600), grace: .milliseconds(100))
                manifest.tasks.append(try TestManifest.task(handler, "hoard", handler, limits))
            }
            manifest.tasks.append(try TestManifest.task("later.*", "hoard", "read", nil))
            return manifest
        }

        private static func parameters(
            _ server: FileServer,
            _ count: Int,
            requests: Int = 0
        ) -> String {
            let sum = server.content.reduce(0) { $0 + Int($1) }
            return #"{"url": "\#(server.url)", "count": "\#(count)", "sum": "\#(sum)","#
                + #" "requests": "\#(requests)"}"#
        }

        /// Waits until a number of the run's fetches have failed: some for want of room, and on a slow
        /// machine others because their time was up.
        private static func fail(
            _ count: Int,
            of run: RunRecord,
            in daemon: RunningHost
        ) async throws {
            var failed = 0
            var refused = 0
            for await line in daemon.follow() {
                let isOver = line.run == run.id && line.event == "run.ended"
                try #require(!isOver, "\(line.message) after \(failed) failures")
                guard line.event == "fetch.failed" else { continue }
                failed += 1
                if line.message.contains("as it may") { refused += 1 }
                if failed == count { break }
            }
            #expect(refused > 0)
        }

        /// 200 answers of 8 MiB each, of which none is read: 1.6 GB.
        @Test(.timeLimit(.minutes(10)))
        func `Answers that a worker does not read do not pile up in the daemon`() async {
            await #expect(processExitsWith: .success) {
                let server = try FileServer([UInt8](repeating: 7, count: 8 << 20))
                defer { server.close() }
                let fetcher = HTTPFetcher()
                try await withLonelyDaemon(
                    Self.manifest(server),
                    adjust: { $0.fetcher = fetcher },
                    { daemon in
                        let before = try residentMebibytes()
                        let run = try await daemon.begin("hoard", Self.parameters(server, 200))
                        // 15 of them fit into 128 MiB; each of the others fails.
                        try await Self.fail(185, of: run, in: daemon)
                        let grown = try residentMebibytes() - before
                        #expect(grown < 320, "the daemon has grown by \(grown) MiB")
                        let files = try Holdings().descriptors.filter { $0.contains("memfd") }
                        #expect(files.isEmpty)
                        #expect(await daemon.host.stop(run: run.id))
                        let end = try await daemon.end(of: run)
                        #expect(end.outcome != .succeeded)
                        // The daemon releases the memory held for it.
                        let record = try await daemon.run("read", Self.parameters(server, 2))
                        #expect(record.outcome == .succeeded && record.result == "2")
                    }
                )
                await fetcher.shutDown()
            }
        }

        /// Requests first, then notifications, output and log, and then answers that nothing reads: all
        /// that a worker can have the daemon hold, at once.
        ///
        /// - Parameter requests: as many as there may be, or half of the budget, which leaves the other
        ///   half to answers.
        @Test(.timeLimit(.minutes(10)), arguments: [1_000_000, 500])
        func `One budget covers all memory that the daemon holds for a plugin`(requests: Int) async
        {
            await #expect(processExitsWith: .success) { [requests] in
                let server = try FileServer([UInt8](repeating: 7, count: 8 << 20))
                defer { server.close() }
                let fetcher = HTTPFetcher()
                try await withLonelyDaemon(
                    Self.manifest(server),
                    adjust: { $0.fetcher = fetcher },
                    { daemon in
                        let before = try residentMebibytes()
                        let parameters = Self.parameters(server, 200, requests: requests)
                        let run = try await daemon.begin("fill", parameters)
                        let line = try await daemon.line { $0.message.hasPrefix("submitted ") }
                        let words = line.message.split(separator: " ")
                        let count = try #require(Int(words[1].dropLast()))
                        // Each is 60 KiB and half a KiB; 128 MiB hold 2166 of them.
                        let fits = 2166
                        #expect(words.last == (requests > fits ? "-14" : "0"))
                        #expect(count == min(requests, count))
                        #expect(requests <= fits || (fits - 60...fits).contains(count), "\(count)")
                        let held = count * (60 << 10) >> 20
                        let answers = (128 - held) / 8
                        try await Self.fail(200 - answers, of: run, in: daemon)
                        let grown = try residentMebibytes() - before
                        // The budget, once more as much for what is on its way through the client and
                        // the store, and what has bounds of its own.
                        #expect(grown < 320, "the daemon has grown by \(grown) MiB")
                        #expect(await daemon.host.stop(run: run.id))
                        let end = try await daemon.end(of: run)
                        #expect(end.outcome != .succeeded)
                    }
                )
                await fetcher.shutDown()
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Long answers come whole, several at once`() async {
            await #expect(processExitsWith: .success) {
                let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
                let server = try FileServer(content)
                defer { server.close() }
                let fetcher = HTTPFetcher()
                try await withDaemon(
                    Self.manifest(server),
                    adjust: { $0.fetcher = fetcher },
                    { daemon in
                        let parameters = Self.parameters(server, 20)
                        let record = try await daemon.run("read", parameters)
                        #expect(record.outcome == .succeeded, "\(record)")
                        #expect(record.result == "20")
                    }
                )
                await fetcher.shutDown()
            }
        }
    }
}
