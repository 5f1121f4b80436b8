// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
@testable import BghostTransfer
import NIOPosix
import NIOSSL
import Testing

/// Servers that say who they are, and who may vouch for that.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct TransferTrustTests {
    private static let content = sample(300_000)
    private static let names = NameLookup(
        addresses: { _ in .success([[127, 0, 0, 1]]) },
        isLocal: { _ in false }
    )

    private func trusting(_ path: String, as variable: String = "SSL_CERT_FILE") -> NetworkSettings
    {
        NetworkSettings { $0 == variable ? path : nil }
    }

    @Test(
        arguments: ["SSL_CERT_FILE", "SSL_CERT_DIR"],
        ["127.0.0.1", "files.example"]
    )
    func `An authority that the system names vouches`(variable: String, host name: String)
        async throws
    {
        let folder = try TemporaryDirectory()
        let file = try TestAuthority.write(to: folder, as: TestAuthority.hashedName)
        let settings = trusting(variable == "SSL_CERT_DIR" ? folder.path : file, as: variable)
        let host = FileHost(Self.content)
        try await withRawServer(tls: TestAuthority.context(.good)) { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let bench = try await TransferBench(names: Self.names, network: settings)
            try await withBench(bench) { bench in
                let record = try await bench.engine.carry(
                    bench.download("https://\(name):\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
        #expect(host.requests.map { $0["host"]?.hasPrefix(name) } == [true])
    }

    enum Doubt: String, CaseIterable, Sendable {
        case hasUnknownAuthority, isForAnother, isForAnotherAddress, hasExpired
    }

    @Test(arguments: Doubt.allCases)
    func `A server without a trusted certificate gets no request`(doubt: Doubt) async throws {
        let folder = try TemporaryDirectory()
        let file = try TestAuthority.write(to: folder)
        let settings = doubt == .hasUnknownAuthority ? NetworkSettings.system : trusting(file)
        let server: TestAuthority.Server =
            switch doubt {
            case .hasUnknownAuthority: .good
            case .isForAnother, .isForAnotherAddress: .other
            case .hasExpired: .expired
            }
        let host = FileHost(Self.content)
        let name = doubt == .isForAnotherAddress ? "127.0.0.1" : "files.example"
        try await withRawServer(tls: TestAuthority.context(server)) { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            let bench = try await TransferBench(names: Self.names, network: settings)
            try await withBench(bench) { bench in
                let record = try await bench.engine.carry(
                    bench.download("https://\(name):\(port)/x")
                )
                #expect(record.status.state == .failed)
                #expect(record.status.fault?.code == .untrusted, "\(record.status)")
                await bench.engine.finishCleanups()
                #expect(bench.files == [])
            }
        }
        #expect(host.requests.isEmpty)
    }

    @Test func `Deprecated TLS is refused`() async throws {
        let folder = try TemporaryDirectory()
        let settings = trusting(try TestAuthority.write(to: folder))
        let host = FileHost(Self.content)
        let context = try TestAuthority.context(.good, newest: .tlsv11)
        try await withRawServer(tls: context) { request, responder in
            _ = host.note(request)
            return try await host.serve(request, responder)
        } test: { port in
            try await withBench(TransferBench(network: settings, jitter: { $0 - 1 })) { bench in
                let request = bench.download("https://127.0.0.1:\(port)/x")
                _ = try await bench.engine.create(request)
                let record = await bench.witness.first(.retrying)
                #expect(record.status.fault?.code == .connection, "\(record.status)")
                #expect(record.status.fault?.detail.contains("TLS") == true)
            }
        }
        #expect(host.requests.isEmpty)
    }

    @Test func `Certificates that are not there are named`() async throws {
        let never = try SilentSocket(accepts: true)
        let bench = try await TransferBench(
            network: trusting("/nonexistent/ca.pem"),
            jitter: { $0 - 1 }
        )
        try await withBench(bench) { bench in
            _ = try await bench.engine.create(bench.download("https://127.0.0.1:\(never.port)/x"))
            let record = await bench.witness.first(.retrying)
            #expect(record.status.fault?.detail.contains("SSL_CERT_FILE") == true)
        }
    }

    /// An attacker who cuts a connection must not be able to truncate a file.
    @Test(arguments: 0...16, [true, false])
    func `A cut download resumes`(sixteenth: Int, isRagged: Bool) async throws {
        let folder = try TemporaryDirectory()
        let settings = trusting(try TestAuthority.write(to: folder))
        let host = FileHost(Self.content)
        let cut = Self.content.count * sixteenth / 16
        let context = try TestAuthority.context(.good, newest: .tlsv12)
        try await withRawServer(tls: context, isRagged: isRagged) { request, responder in
            let isFirst = host.note(request) == 1
            return try await host.serve(request, responder, cut: isFirst ? cut : nil)
        } test: { port in
            try await withBench(TransferBench(network: settings)) { bench in
                let record = try await bench.engine.carry(
                    bench.download("https://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(try bench.content() == Bytes(Self.content))
                #expect(bench.witness.faults == (sixteenth == 16 ? [] : [.connection]))
            }
        }
        #expect(host.bodyBytes == Self.content.count)
    }

    /// Without a length, only the server can mark the end of a body; a cut connection does not.
    @Test(arguments: [true, false])
    func `A cut connection does not end a body without a length`(isRagged: Bool) async throws {
        let folder = try TemporaryDirectory()
        let settings = trusting(try TestAuthority.write(to: folder))
        let host = FileHost(Self.content)
        let context = try TestAuthority.context(.good, newest: .tlsv12)
        try await withRawServer(tls: context, isRagged: isRagged) { request, responder in
            guard host.note(request) == 1 else { return try await host.serve(request, responder) }
            try await responder.head(200, [("ETag", "\"v1\""), ("Connection", "close")])
            try await responder.bytes(Self.content.prefix(isRagged ? 100_000 : 300_000))
            return .close
        } test: { port in
            try await withBench(TransferBench(network: settings)) { bench in
                let record = try await bench.engine.carry(
                    bench.download("https://127.0.0.1:\(port)/x")
                )
                #expect(record.status.state == .done, "\(record.status)")
                #expect(bench.witness.faults == (isRagged ? [.connection] : []))
                #expect(try bench.content() == Bytes(Self.content))
            }
        }
    }

    /// The process reads its own environment.
    @Test(arguments: [true, false])
    func `The environment says whom to trust`(isTold: Bool) async throws {
        let folder = try TemporaryDirectory()
        let authority = try TemporaryDirectory()
        let file = try TestAuthority.write(to: authority)
        let host = FileHost(Self.content)
        try await withRawServer(tls: TestAuthority.context(.good)) { request, responder in
            try await host.serve(request, responder)
        } test: { port in
            let program =
                ["env", isTold ? "SSL_CERT_FILE=\(file)" : "X=1"]
                + [Artifact.path("transfer-runner"), "download", folder.path]
                + ["https://127.0.0.1:\(port)/x", "3600000000000"]
            let result = try await NIOThreadPool.singleton.runIfActive { try Command.run(program) }
            #expect(result.output.hasPrefix(isTold ? "done\n" : "failed "), "\(result)")
        }
        #expect(try File.list(folder.path).contains("file") == isTold)
    }
}
