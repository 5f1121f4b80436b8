// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression

/// Keeps the data that a server sent before it closed the connection until the HTTP client reads
/// it.
///
/// When the peer closes, the channel reads all remaining data at once, whether the client asked for
/// it or not, and reports the end. The HTTP client then drops the response together with all data
/// that it has not yet delivered: a download that is cut would lose data that has arrived, and a
/// download that is cut early and often would never progress. So the channel stays open on its own
/// side, and data that arrives unasked waits here, followed by the end.
final class TailKeeper: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private enum Held {
        case part(HTTPClientResponsePart)
        case error(any Error)
        case closed
    }

    private var held = CircularBuffer<Held>()
    /// Whether the client has asked for the next part.
    ///
    /// It starts as true: the first read is issued before this handler is added.
    private var isAsked = true

    /// How much one read takes: more while much data arrives, since each piece crosses three
    /// threads, and little at first, since the response may be refused.
    private static let pieces = AdaptiveRecvByteBufferAllocator(
        minimum: 2 << 10,
        initial: 16 << 10,
        maximum: pieceBytesMax
    )

    static let pieceBytesMax = 512 << 10

    /// Adds a handler between the decompressor and the handler of the HTTP client.
    static func add(to channel: any Channel) throws {
        let operations = channel.pipeline.syncOperations
        let unpacker = try operations.handler(type: NIOHTTPResponseDecompressor.self)
        try operations.addHandler(TailKeeper(), position: .after(unpacker))
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        try channel.syncOptions?.setOption(.recvAllocator, value: Self.pieces)
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    }

    func read(context: ChannelHandlerContext) {
        guard !held.isEmpty else {
            isAsked = true
            context.read()
            return
        }
        deliver(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isAsked, held.isEmpty else {
            held.append(.part(unwrapInboundIn(data)))
            return
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard held.isEmpty else { return }
        isAsked = false
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard held.isEmpty else {
            held.append(.error(error))
            return
        }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        guard held.isEmpty else {
            held.append(.closed)
            return
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        held.removeAll()
        context.fireChannelInactive()
    }

    /// Delivers one part, or the end when no part is left.
    private func deliver(_ context: ChannelHandlerContext) {
        while let next = held.popFirst() {
            switch next {
            case .part(let part):
                context.fireChannelRead(wrapInboundOut(part))
                context.fireChannelReadComplete()
                // The channel asks for the next read after each of its own reads; it does not know
                // of this delivery. Ask in a later turn of the event loop, since an immediate
                // answer would recurse.
                let pipeline = context.pipeline
                context.eventLoop.assumeIsolated().execute { pipeline.read() }
                return
            case .error(let error): context.fireErrorCaught(error)
            case .closed: context.close(promise: nil)
            }
        }
    }
}
