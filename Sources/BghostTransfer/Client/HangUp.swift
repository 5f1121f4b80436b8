// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Counts the bytes that the connections of a pool have read from the network.
final class ReceivedBytes: Sendable {
    private let bytes = Atomic<UInt64>(0)

    var count: UInt64 { bytes.load(ordering: .relaxed) }

    fileprivate func add(_ count: Int) { bytes.add(UInt64(count), ordering: .relaxed) }
}

/// Closes a connection at once when the HTTP client is done with it.
///
/// The TLS handler sends its close notice and then reads on until the server sends one too, or for
/// five seconds. From a server that sends without end, it would read and discard data for that
/// long. bghost needs none of that data, so this handler closes the socket as soon as the notice is
/// written (RFC 8446, 6.1: the peer's notice need not be awaited).
final class HangUp: ChannelOutboundHandler {
    typealias OutboundIn = Never

    private let socket: SocketEnd

    private init(_ socket: SocketEnd) { self.socket = socket }

    /// Adds a handler between TLS and HTTP, and counts the bytes that come from the network.
    static func add(to channel: any Channel, counting received: ReceivedBytes) throws {
        let operations = channel.pipeline.syncOperations
        let socket = SocketEnd(received)
        try operations.addHandler(socket, position: .first)
        let encoder = try operations.handler(type: HTTPRequestEncoder.self)
        try operations.addHandler(HangUp(socket), position: .before(encoder))
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        context.close(mode: mode, promise: promise)
        if mode == .all { socket.close() }
    }
}

/// The handler at the socket's end of the pipeline.
private final class SocketEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let received: ReceivedBytes
    private var context: ChannelHandlerContext?

    init(_ received: ReceivedBytes) { self.received = received }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.add(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    /// Without TLS the socket is already closed by then, and this does nothing.
    func close() { context?.close(promise: nil) }
}
