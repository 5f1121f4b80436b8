// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Handlers that wait for transfers, and those that are stopped meanwhile.
    @Suite struct TransferWaitTests {
        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `Only the run that waits gets the end`(isolation: Isolation) async throws {
            try await withFile { server in
                try await withDaemon(try TransferManifest.of(server, isolation: isolation)) {
                    daemon in
                    let more = [("label", "a file"), ("continuation", "go on \"here\"")]
                    let parameters = TransferManifest.parameters(server, more)
                    let run = try await daemon.run("await", parameters)
                    #expect(run.outcome == .succeeded, "\(run.message)")
                    let end = try await daemon.told("end")
                    #expect(end["state"]?.string == "done")
                    #expect(end["status"]?.int64 == 200)
                    #expect(end["bytes"]?.int64 == Int64(server.content.count))
                    #expect(end["label"]?.string == "a file")
                    #expect(end["continuation"]?.string == "go on \"here\"")
                    #expect(end["upload"]?.bool == false)
                    #expect(end["fault"]?.isNull == true)
                    let tag = end["headers"]?.array?.first { $0.array?.first?.string == "etag" }
                    #expect(tag?.array?.last?.string == "\"v1\"")
                    let file = try #require(end["file"]?.string)
                    #expect(file.hasPrefix(daemon.transferFolder + "/"))
                    #expect(try File.read(file) == server.content)
                    // It is acknowledged: no end is left.
                    _ = try await daemon.run("list", TransferManifest.parameters(server))
                    #expect(try await daemon.told("list").array?.isEmpty == true)
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                }
                #expect(server.sent == server.content.count)
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `A cancelled run leaves its transfer unchanged: one request, one body`(
            isolation: Isolation
        ) async throws {
            try await withFile(holdAt: 200_000) { server in
                try await withDaemon(try TransferManifest.of(server, isolation: isolation)) {
                    daemon in
                    let run = try await daemon.begin("await", TransferManifest.parameters(server))
                    await server.held()
                    #expect(await daemon.host.expire(run: run.id))
                    let ended = try await daemon.end(of: run)
                    #expect(ended.outcome == .cancelledClean)
                    try await daemon.line("wait answered -3")
                    try await daemon.line { $0.event == "transfer.changed" && $0.level == .debug }
                    server.release()
                    let told = try await daemon.told("told")
                    try await daemon.line("wake 1 attempt 1")
                    #expect(told["session"]?.string == "s")
                    #expect(told["more"]?.bool == false)
                    let transfer = try #require(told["transfers"]?.array?.first)
                    #expect(transfer["state"]?.string == "done")
                    try await daemon.line(LogFilter(task: "urlSession.s")) {
                        $0.event == "run.ended" && $0.message.hasPrefix("succeeded")
                    }
                }
                #expect(server.seen.count == 1)
                #expect(server.sent == server.content.count)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Killing the worker leaves its transfer unchanged`() async throws {
            try await withFile(holdAt: 200_000) { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let run = try await daemon.begin("await", TransferManifest.parameters(server))
                    await server.held()
                    kill(try #require(run.pid), SIGKILL)
                    let ended = try await daemon.end(of: run)
                    #expect(
                        ended.outcome == .crashed(.signalled(SIGKILL)),
                        "\(ended.outcome as Any)"
                    )
                    server.release()
                    let told = try await daemon.told("told")
                    let file = try #require(told["transfers"]?.array?.first?["file"]?.string)
                    #expect(file.hasPrefix(daemon.transferFolder))
                    try await daemon.line(LogFilter(task: "urlSession.s")) {
                        $0.event == "run.ended"
                    }
                }
                #expect(server.seen.count == 1)
                #expect(server.sent == server.content.count)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The same request in a session is the same transfer`() async throws {
            try await withFile(holdAt: 1000) { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    let parameters = TransferManifest.parameters(server)
                    let first = try await daemon.begin("await", parameters)
                    await server.held()
                    let second = try await daemon.begin("await", parameters)
                    let one = try await daemon.said("began", LogFilter(run: first.id))
                    let other = try await daemon.said("began", LogFilter(run: second.id))
                    #expect(one == other)
                    server.release()
                    #expect(try await daemon.end(of: first).outcome == .succeeded)
                    #expect(try await daemon.end(of: second).outcome == .succeeded)
                }
                #expect(server.seen.count == 1)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A later run can wait for what an earlier one began`() async throws {
            try await withFile(holdAt: 1000) { server in
                try await withDaemon(try TransferManifest.of(server)) { daemon in
                    _ = try await daemon.run("begin", TransferManifest.parameters(server))
                    let id = try await daemon.said("began")
                    await server.held()
                    let run = try await daemon.begin("wait", #"{"id":"\#(id)"}"#)
                    // Attached before the rest comes.
                    try await daemon.line { $0.message.contains("active, awaited") }
                    server.release()
                    #expect(try await daemon.end(of: run).outcome == .succeeded)
                    #expect(try await daemon.told("end")["id"]?.string == id)
                    let unknown = try await daemon.run(
                        "wait",
                        #"{"id":"00000000000000000000000000"}"#
                    )
                    #expect(unknown.outcome == .cancelledClean || unknown.outcome == .failed)
                    try await daemon.line("wait answered -16")
                    #expect(await daemon.host.pending(task: nil, limit: 10).total == 0)
                }
            }
        }
    }
}
