// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Testing

extension Integration {
    /// What a plugin may transfer, and when.
    @Suite struct TransferRuleTests {
        struct Refusal: Sendable, CustomTestStringConvertible {
            var name: String
            var session = "s"
            var more: [(String, String)] = []
            var status: Int
            var says: String
            var testDescription: String { name }
        }

        static let refusals = [
            Refusal(
                name: "a session that is not declared",
                session: "other",
                status: -13,
                says: #"add `"other": {"plugin": "t"}` to `sessions`"#
            ),
            Refusal(
                name: "a host that is not granted",
                more: [("url", "http://127.0.0.1:1/x")],
                status: -13,
                says: "\"permissions\".\"network\""
            ),
            Refusal(
                name: "a place that is not its own",
                more: [("file", "/etc/passwd")],
                status: -13,
                says: "may not write"
            ),
            Refusal(
                name: "a file that it may not read",
                more: [("file", "/etc/passwd"), ("flags", "1")],
                status: -13,
                says: "may not read"
            ),
            Refusal(name: "no address", more: [("url", "ftp://x/")], status: -12, says: "refused"),
            Refusal(
                name: "an upload of nothing",
                more: [("flags", "1")],
                status: -12,
                says: "no file"
            ),
            Refusal(
                name: "a header of the transfer's own",
                more: [("headers", "Range: bytes=1-\n")],
                status: -12,
                says: "leave it out"
            ),
        ]

        @Test(.timeLimit(.minutes(5)), arguments: refusals)
        func `A transfer without permission is refused, and the log says why`(
            refusal: Refusal
        ) async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let parameters = TransferManifest.parameters(
                        server,
                        session: refusal.session,
                        refusal.more
                    )
                    let run = try await daemon.run("begin", parameters)
                    #expect(run.outcome == .failed)
                    try await daemon.line("begin answered \(refusal.status)")
                    let line = try await daemon.line { $0.event == "call.refused" }
                    #expect(line.message.contains(refusal.says), "\(line.message)")
                    #expect(await daemon.host.transfers().isEmpty)
                }
                #expect(server.seen.isEmpty)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A discretionary transfer waits for power and an unmetered network`() async throws {
            try await withFile { server in
                let manifest = try TransferManifest.of(server)
                try await withDaemon(
                    manifest,
                    adjust: { $0.factSources = { _ in [] } }
                ) { daemon in
                    // BG_TRANSFER_DISCRETIONARY.
                    let parameters = TransferManifest.parameters(server, [("flags", "8")])
                    _ = try await daemon.run("begin", parameters)
                    let host = daemon.host
                    _ = try await host.simulate(fact: "power=mains")
                    _ = try await host.simulate(fact: "unmetered=on")
                    let waiting = await host.transfers()
                    #expect(waiting.map(\.stateName) == ["waiting"])
                    #expect(waiting.first?.waitingFor.contains("idle") == true)
                    #expect(server.seen.isEmpty)
                    _ = try await host.simulate(fact: "idle=on")
                    let told = try await daemon.told("told")
                    #expect(told["transfers"]?.array?.first?["state"]?.string == "done")
                }
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A transfer waits for its date`() async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let run = try await daemon.run("list", #"{"session":"s"}"#)
                    let date = try #require(run.endedAt) / 1_000_000 + 7_200_000
                    let parameters = TransferManifest.parameters(
                        server,
                        [("earliest", "\(date)")]
                    )
                    _ = try await daemon.run("begin", parameters)
                    #expect(await daemon.host.transfers().map(\.stateName) == ["waiting"])
                    _ = try await daemon.host.simulate(clock: .by(hour))
                    #expect(await daemon.host.transfers().map(\.stateName) == ["waiting"])
                    #expect(server.seen.isEmpty)
                    _ = try await daemon.host.simulate(clock: .by(hour + hour / 60))
                    try await daemon.line("wake 1 attempt 1")
                }
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin uploads its own file`() async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let path = daemon.transferFolder + "/photo"
                    try File.write(server.content, to: path)
                    // BG_TRANSFER_UPLOAD, and BG_TRANSFER_FORM with it.
                    for flags in ["1", "3"] {
                        let parameters = TransferManifest.parameters(
                            server,
                            [
                                ("flags", flags), ("file", path),
                                ("url", "http://127.0.0.1:\(server.port)/\(flags)"),
                            ]
                        )
                        let run = try await daemon.run("await", parameters)
                        #expect(run.outcome == .succeeded)
                        let end = try await daemon.told("end", LogFilter(run: run.id))
                        #expect(end["status"]?.int64 == 201)
                        #expect(end["body"]?.string == "done")
                        #expect(end["upload"]?.bool == true)
                        #expect(end["file"]?.string == path)
                    }
                }
                #expect(server.seen.map(\.method) == ["PUT", "POST"])
                #expect(server.seen.first?.body == server.content)
                let form = server.seen.last?.headers["content-type"] ?? ""
                #expect(form.hasPrefix("multipart/form-data"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin or an operator can cancel a transfer`() async throws {
            try await withFile(holdAt: 1000) { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    _ = try await daemon.run("begin", TransferManifest.parameters(server))
                    let id = try await daemon.said("began")
                    await server.held()
                    _ = try await daemon.run("cancel", #"{"id":"\#(id)"}"#)
                    try await daemon.line("answered 0")
                    let told = try await daemon.told("told")
                    let transfer = told["transfers"]?.array?.first
                    #expect(transfer?["state"]?.string == "cancelled")
                    try await daemon.line(LogFilter(task: "urlSession.s")) {
                        $0.event == "run.ended"
                    }
                    let parameters = TransferManifest.parameters(server, session: "failing")
                    _ = try await daemon.run("begin", parameters)
                    await server.held()
                    let other = try #require(await daemon.host.transfers().last)
                    #expect(other.stateName == "active")
                    _ = try await daemon.host.cancelTransfer(other.id.description)
                    try await daemon.line("wake 1 attempt 1", LogFilter(task: "urlSession.failing"))
                }
            }
        }
    }
}
