// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// A proxy at 127.0.0.1 that makes tunnels and remembers what it was asked for.
final class TestProxy: Sendable {
    /// What it was asked: the head of each request.
    private let heads = Mutex<[String]>([])
    /// What it says to a request; 200 makes the tunnel.
    private let answer: @Sendable (_ number: Int, _ head: String) -> String

    init(_ answer: @escaping @Sendable (Int, String) -> String = { _, _ in "200 OK" }) {
        self.answer = answer
    }

    /// The request lines, in order.
    var requests: [String] {
        heads.withLock { $0.compactMap { $0.split(separator: "\r\n").first.map(String.init) } }
    }

    /// Whether the last request had this line in its head.
    func lastHad(_ line: String) -> Bool {
        heads.withLock { $0.last?.contains("\r\n\(line)\r\n") ?? false }
    }

    /// Runs a test beside it.
    func run(_ test: (_ port: Int) async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listener(self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await test(channel.localAddress?.port ?? 0)
        } catch {
            try? await channel.close()
            throw error
        }
        try? await channel.close()
    }

    private func note(_ head: String) -> String {
        let number = heads.withLock { heads in
            heads.append(head)
            return heads.count
        }
        return answer(number, head)
    }

    /// Reads a head, connects, and hands on what comes from then on.
    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let proxy: TestProxy
        private var head = ""
        private var waiting: [ByteBuffer] = []
        private var far: (any Channel)?
        private var isDone = false

        init(_ proxy: TestProxy) {
            self.proxy = proxy
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if let far { return far.writeAndFlush(buffer, promise: nil) }
            guard !isDone else { return waiting.append(buffer) }
            head += String(decoding: buffer.readableBytesView, as: UTF8.self)
            guard head.hasSuffix("\r\n\r\n") else { return }
            isDone = true
            let answer = proxy.note(head)
            let reply = ByteBuffer(string: "HTTP/1.1 \(answer)\r\n\r\n")
            let target = head.split(separator: " ").dropFirst().first?.split(separator: ":") ?? []
            guard answer.hasPrefix("200"), let name = target.first,
                let port = target.last.flatMap({ Int($0) })
            else {
                context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
                return context.close(promise: nil)
            }
            let near = context.channel
            let this = NIOLoopBound(self, eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Relay(near))
                    }
                }
                .connect(host: String(name), port: port)
                .whenComplete { result in
                    guard case .success(let channel) = result else {
                        return near.close(promise: nil)
                    }
                    near.writeAndFlush(reply, promise: nil)
                    this.value.connected(channel)
                }
        }

        private func connected(_ channel: any Channel) {
            far = channel
            for buffer in waiting { channel.writeAndFlush(buffer, promise: nil) }
            waiting = []
        }

        func channelInactive(context: ChannelHandlerContext) { far?.close(promise: nil) }
    }

    /// Hands on what the server says.
    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let near: any Channel

        init(_ near: any Channel) {
            self.near = near
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            near.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            // Behind what is still on its way.
            near.writeAndFlush(ByteBuffer()).whenComplete { [near] _ in near.close(promise: nil) }
        }
    }
}
