// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
import BghostTransfer
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization
import Testing

/// The IETF draft, as another implementation of it understands it.
@Suite(.timeLimit(.minutes(5)))
struct ResumableUploadTests {
    private static let content = sample((1 << 20) + 13)

    /// What the server behind the protocol has been handed.
    private final class Inbox: Sendable {
        let uploads = Mutex<[[UInt8]]>([])
    }

    /// Collects one upload and answers it.
    private final class Receiver: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundOut = HTTPResponsePart

        private let inbox: Inbox
        private var bytes: [UInt8] = []

        init(_ inbox: Inbox) {
            self.inbox = inbox
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: break
            case .body(let buffer): bytes += buffer.readableBytesView
            case .end:
                inbox.uploads.withLock { $0.append(bytes) }
                let head = HTTPResponse(
                    status: .init(code: 201),
                    headerFields: [.contentLength: "0"]
                )
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    /// Closes a connection after so many bytes, once.
    private final class Cutter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        private let budget: Budget
        private var seen = 0

        init(_ budget: Budget) {
            self.budget = budget
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            seen += bytes.readableBytes
            let beyond = budget.beyond(seen)
            // Bytes that arrive together with the end of the budget must not count.
            if let beyond {
                bytes = bytes.readSlice(length: bytes.readableBytes - beyond) ?? bytes
            }
            context.fireChannelRead(wrapInboundOut(bytes))
            if beyond != nil { context.close(promise: nil) }
        }
    }

    private final class Budget: Sendable {
        private let left: Mutex<Int?>

        init(_ bytes: Int?) {
            left = Mutex(bytes)
        }

        /// How much was seen beyond it; `nil` if it is not spent, or was before.
        func beyond(_ seen: Int) -> Int? {
            left.withLock { left in
                guard let limit = left, seen >= limit else { return nil }
                left = nil
                return seen - limit
            }
        }
    }

    private func withDraftServer(cut: Int?, _ inbox: Inbox, test: (Int) async throws -> Void)
        async throws
    {
        // The place of an upload is given without an origin: the port is not known yet.
        let uploads = HTTPResumableUploadContext(origin: "")
        let budget = Budget(cut)
        let channel = try await ServerBootstrap(
            group: MultiThreadedEventLoopGroup(numberOfThreads: 1)
        )
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(Cutter(budget))
                try pipeline.configureHTTPServerPipeline()
                try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                try pipeline.addHandler(
                    HTTPResumableUploadHandler(context: uploads) { child in
                        try? child.pipeline.syncOperations.addHandler(Receiver(inbox))
                    }
                )
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await test(channel.localAddress?.port ?? 0)
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// - Parameter cut: after how much of the connection, its head included.
    @Test(arguments: [nil] + (1...16).map { content.count * $0 / 16 })
    func `An upload resumes at its offset`(cut: Int?) async throws {
        let inbox = Inbox()
        try await withDraftServer(cut: cut, inbox) { port in
            try await withBench(TransferBench()) { bench in
                try bench.folder.write(Self.content, to: "file")
                let request = bench.upload("http://127.0.0.1:\(port)/photos", .ietf)
                let record = try await bench.engine.carry(request)
                #expect(record.status.state == .done, "\(record.status)")
                #expect(record.status.answer?.status == 201)
                #expect(bench.witness.faults == (cut == nil ? [] : [.connection]))
            }
        }
        #expect(inbox.uploads.withLock { $0.map { Bytes($0) } } == [Bytes(Self.content)])
    }
}
