// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import Glibc
import Testing

/// Where transfers may not lead.
@Suite(.timeLimit(.minutes(5)))
struct TransferPermissionTests {
    private func fault(
        _ bench: TransferBench,
        _ request: TransferRequest
    ) async -> TransferFault.Code? {
        do {
            return try await bench.engine.carry(request).status.fault?.code
        } catch let fault as TransferFault {
            return fault.code
        } catch {
            return nil
        }
    }

    @Test func `A server that is not granted is not reached`() async throws {
        let host = FileHost(sample(10))
        try await withRawServer { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let bench = try await TransferBench(permits: { $0 == "127.0.0.1" && $1 != port })
            try await withBench(bench) { bench in
                let request = bench.download("http://127.0.0.1:\(port)/x")
                #expect(await fault(bench, request) == .forbidden)
            }
        }
        #expect(host.requests.isEmpty)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `A redirect does not lead out of the grants`(status: Int) async throws {
        let inner = FileHost(sample(10))
        try await withRawServer { request, responder in
            _ = inner.note(request)
            return try await inner.serve(request, responder)
        } test: { secret in
            try await withRawServer { _, responder in
                try await responder.answer(status, [("Location", "http://127.0.0.1:\(secret)/x")])
                return .keep
            } test: { port in
                try await withBench(TransferBench(permits: { $1 == port })) { bench in
                    let request = bench.download("http://127.0.0.1:\(port)/x")
                    #expect(await fault(bench, request) == .forbidden)
                    await bench.engine.finishCleanups()
                    #expect(bench.files == [])
                }
            }
        }
        #expect(inner.requests.isEmpty)
    }

    @Test(arguments: [0, 1, 5, 6])
    func `A chain of redirects is followed so far`(length: Int) async throws {
        let host = FileHost(sample(1000))
        try await withRawServer { request, responder in
            let step = Int(request.target.dropFirst()) ?? 0
            guard step < length else { return try await host.serve(request, responder) }
            try await responder.answer(302, [("Location", "/\(step + 1)")])
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let request = bench.download("http://127.0.0.1:\(port)/0")
                #expect(await fault(bench, request) == (length > 5 ? .badRedirect : nil))
                await bench.engine.finishCleanups()
                #expect(bench.files == (length > 5 ? [] : ["file"]))
            }
        }
    }

    @Test func `A circle of redirects ends`() async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(307, [("Location", request.target == "/a" ? "/b" : "/a")])
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let request = bench.download("http://127.0.0.1:\(port)/a")
                #expect(await fault(bench, request) == .badRedirect)
            }
        }
        #expect(host.requests.count == 6)
    }

    /// A name that leads inside, at once or only when it is asked for the second time.
    @Test(arguments: [0, 1]) func `A name does not lead inside`(honestAnswers: Int) async throws {
        let host = FileHost(sample(1000))
        let lookups = Counter()
        try await withRawServer { request, responder in
            guard host.note(request) > 1 else {
                return try await host.serve(request, responder, cut: 500)
            }
            return try await host.serve(request, responder)
        } test: { port in
            let names = NameLookup(
                addresses: { _ in .success([[127, 0, 0, 1]]) },
                isLocal: { _ in lookups.next() > honestAnswers }
            )
            try await withBench(TransferBench(names: names)) { bench in
                let request = bench.download("http://files.example:\(port)/x")
                #expect(await fault(bench, request) == .forbidden)
            }
        }
        #expect(host.requests.count == honestAnswers)
    }

    @Test func `Credentials do not cross origins`() async throws {
        let inner = FileHost(sample(10))
        try await withRawServer { request, responder in
            _ = inner.note(request)
            return try await inner.serve(request, responder)
        } test: { other in
            try await withRawServer { _, responder in
                try await responder.answer(302, [("Location", "http://127.0.0.1:\(other)/x")])
                return .keep
            } test: { port in
                try await withBench(TransferBench()) { bench in
                    var request = bench.download("http://127.0.0.1:\(port)/x")
                    request.headers = [
                        TransferHeader("Authorization", "secret"), TransferHeader("X-Plain", "1"),
                    ]
                    #expect(await fault(bench, request) == nil)
                }
            }
        }
        #expect(inner.requests.first?["authorization"] == nil)
        #expect(inner.requests.first?["x-plain"] == "1")
    }

    @Test(
        arguments: [
            "/etc/bghost-test", "../out", "a/../../out", "link/out", "missing/file", "", ".", "..",
            ".bghost-x.part", "sub", "file/below",
        ]
    )
    func `A file elsewhere is not written`(path: String) async throws {
        let outside = try TemporaryDirectory()
        let host = FileHost(sample(10))
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write("old", to: "file")
                mkdir(bench.folder.file("sub"), 0o700)
                symlink(outside.path, bench.folder.file("link"))
                var request = bench.download("http://127.0.0.1:\(port)/x")
                request.file = path.hasPrefix("/") ? path : bench.folder.file(path)
                #expect(await fault(bench, request) != nil)
                await bench.engine.finishCleanups()
                #expect(try File.list(outside.path) == [])
                #expect(bench.files == ["file", "link", "sub"])
                #expect(try bench.content() == Bytes(Array("old".utf8)))
            }
        }
    }

    /// Put there while the transfer waits, by a user who may write into the folder.
    @Test(arguments: ["link", "second name", "pipe"])
    func `A planted file is not written`(what: String) async throws {
        let outside = try TemporaryDirectory()
        let target = try outside.write("precious", to: "x")
        let host = FileHost(sample(1000))
        try await withRawServer { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench()) { bench in
                let request = bench.download("http://127.0.0.1:\(port)/x")
                let part = bench.folder.file(".bghost-\(request.id).part")
                switch what {
                case "link": symlink(target, part)
                case "pipe": mkfifo(part, 0o600)
                default: link(target, part)
                }
                #expect(await fault(bench, request) == .file)
            }
        }
        #expect(try File.read(target) == Array("precious".utf8))
    }

    @Test(arguments: ["/etc/passwd", "link", "sub", "missing", "pipe"])
    func `A file elsewhere is not sent`(path: String) async throws {
        let host = FileHost([])
        try await withRawServer { request, responder in
            _ = host.note(request)
            try await responder.answer(200)
            return .keep
        } test: { port in
            try await withBench(TransferBench()) { bench in
                symlink("/etc/passwd", bench.folder.file("link"))
                mkdir(bench.folder.file("sub"), 0o700)
                mkfifo(bench.folder.file("pipe"), 0o600)
                var request = bench.upload("http://127.0.0.1:\(port)/x", .whole)
                request.file = path.hasPrefix("/") ? path : bench.folder.file(path)
                #expect(await fault(bench, request) != nil)
            }
        }
        #expect(host.requests.isEmpty)
    }

    @Test(arguments: ["Range", "if-range", "Host", "Content-Length", "Upload-Offset", "Bad Name"])
    func `A header that is the host's own is refused`(name: String) async throws {
        try await withBench(TransferBench()) { bench in
            var request = bench.download("http://127.0.0.1:1/x")
            request.headers = [TransferHeader(name, "1")]
            #expect(await fault(bench, request) == .badRequest)
            #expect(await bench.engine.list().isEmpty)
        }
    }

    @Test func `A plugin that is gone has no transfers`() async throws {
        try await withBench(TransferBench()) { bench in
            var request = bench.download("http://127.0.0.1:1/x")
            request.plugin = "q"
            #expect(await fault(bench, request) == .forbidden)
        }
    }
}
