// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostHost
import BghostModel
import BghostServices
import BghostTestSupport
import Testing

extension Integration {
    /// Ends that a wake has not taken, in the real daemon and worker.
    @Suite struct KeptEndTests {
        private static let session = [("session", "keeping")]

        private func parameters(_ more: [(String, String)] = []) -> String {
            var writer = JSONWriter()
            writer.object { writer in
                for (key, value) in Self.session + more { writer.member(key, value) }
            }
            return writer.text
        }

        /// Has a transfer end whose wake keeps it.
        private func keep(_ server: FileServer, _ daemon: RunningHost) async throws -> String {
            let parameters = TransferManifest.parameters(server, session: "keeping")
            #expect(try await daemon.run("begin", parameters).outcome == .succeeded)
            let id = try await daemon.said("began")
            try await daemon.line("keep answered 0")
            try await daemon.line { $0.event == "session.kept" && $0.message.contains(id) }
            return id
        }

        private func claimed(_ daemon: RunningHost, _ more: [(String, String)] = []) async throws
            -> [String]
        {
            let run = try await daemon.run("claim", parameters(more))
            #expect(run.outcome == (more.contains { $0.0 == "fail" } ? .failed : .succeeded))
            let told = try await daemon.told("claimed", LogFilter(run: run.id))
            return told.array?.compactMap { $0["id"]?.string } ?? []
        }

        @Test(.timeLimit(.minutes(5)), arguments: [Isolation.worker, .inProcess])
        func `A kept end starts no run and survives a restart until it is claimed`(
            isolation: Isolation
        ) async throws {
            let folder = try TemporaryDirectory()
            try await withFile { server in
                let manifest = try TransferManifest.of(server, isolation: isolation)
                var id = ""
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    id = try await keep(server, daemon)
                    // The engine learns of it after the end of the run.
                    var views = await daemon.host.transfers()
                    while views.first?.waitingFor == "" { views = await daemon.host.transfers() }
                    #expect(views.map(\.waitingFor) == ["the plugin to make session keeping"])
                    // No request waits, however long.
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                    _ = try await daemon.host.simulate(clock: .by(hour))
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                    #expect(daemon.count { $0.message.hasPrefix("wake ") } == 1)
                }
                try await withDaemon(manifest, folder: folder, adjust: fullyDurable) { daemon in
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                    // A run that only looks, and one that fails, leave it.
                    #expect(try await claimed(daemon) == [id])
                    try await daemon.line("length answered 0")
                    try await daemon.line("small answered -15")
                    try await daemon.line("the same length")
                    #expect(try await claimed(daemon, [("fail", "1")]) == [id])
                    #expect(try await claimed(daemon, [("deal", "1")]) == [id])
                    try await daemon.line("deal answered 0")
                    #expect(try await claimed(daemon).isEmpty)
                    #expect(await daemon.host.transfers().isEmpty)
                    #expect(daemon.count { $0.message.hasPrefix("wake ") } == 0)
                }
                #expect(try File.list(folder.file("state/data/t")).isEmpty)
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A run can keep only ends in its params`() async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let id = try await keep(server, daemon)
                    // One of its own beside an invented one: neither was kept by that call.
                    try await daemon.line("strange answered -16")
                    try await daemon.line("many answered -14")
                    try await daemon.line("none answered -12")
                    // Of another run, whose session gets no wake.
                    _ = try await daemon.run("keep", #"{"id":"\#(id)"}"#)
                    try await daemon.line("keep answered -16")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A successful wake without keep() acknowledges all its ends`() async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let parameters = TransferManifest.parameters(server)
                    #expect(try await daemon.run("begin", parameters).outcome == .succeeded)
                    let task = LogFilter(task: "urlSession.s")
                    try await daemon.line(task) {
                        $0.event == "run.ended" && $0.message.hasPrefix("succeeded")
                    }
                    let run = try await daemon.run("claim", #"{"session":"s"}"#)
                    #expect(run.outcome == .succeeded)
                    #expect(try await daemon.told("claimed").array?.isEmpty == true)
                    #expect(daemon.count { $0.event == "session.kept" } == 0)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The next wake has only the new end, and a claim returns the kept one`()
            async throws
        {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let first = try await keep(server, daemon)
                    let parameters = TransferManifest.parameters(
                        server,
                        session: "keeping",
                        [("headers", "Range-X: 1\n")]
                    )
                    let begun = try await daemon.run("begin", parameters)
                    let filter = LogFilter(run: begun.id)
                    let second = try await daemon.said("began", filter)
                    try await daemon.line {
                        $0.event == "session.kept" && $0.message.contains(second)
                    }
                    let told = daemon.log.entries(matching: LogFilter(), limit: 8192)
                        .filter { $0.message.hasPrefix("told ") }.map(\.message)
                    #expect(told.count == 2)
                    #expect(told.last?.contains(first) == false)
                    #expect(try await claimed(daemon) == [first, second])
                }
            }
        }
    }
}
