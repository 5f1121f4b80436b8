// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression

/// Keeps what a server sent before it hung up until it is asked for.
///
/// When the other side closes, the channel reads all that is still to be read at once, whether it was
/// asked for or not, and reports the end. The HTTP client then gives up the answer together with all
/// of it that has not been taken yet: a download that is cut would lose what has come, and one that is
/// cut early and often would never get anywhere. So the channel stays open for its own side, and what
/// comes without having been asked for waits here, the end behind it.
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
    /// Whether what comes next has been asked for: from the start on, before this was put there.
    private var isAsked = true

    /// How much is read before it is handed on: more where more comes, since each piece goes through
    /// three threads; of an answer that may be refused, little.
    private static let pieces = AdaptiveRecvByteBufferAllocator(
        minimum: 2 << 10,
        initial: 16 << 10,
        maximum: 512 << 10
    )

    /// Puts one before the handler of the HTTP client, behind the one that unpacks.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit {
            let operations = channel.pipeline.syncOperations
            let unpacker = try operations.handler(type: NIOHTTPResponseDecompressor.self)
            try operations.addHandler(TailKeeper(), position: .after(unpacker))
            try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.pieces)
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        }
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

    /// Hands on one part, or the end once there is no other.
    private func deliver(_ context: ChannelHandlerContext) {
        while let next = held.popFirst() {
            switch next {
            case .part(let part):
                context.fireChannelRead(wrapInboundOut(part))
                context.fireChannelReadComplete()
                // The channel itself asks after each read; this one it knows nothing of. Later, since
                // the answer may come at once and this would go ever deeper.
                let pipeline = context.pipeline
                context.eventLoop.assumeIsolated().execute { pipeline.read() }
                return
            case .error(let error): context.fireErrorCaught(error)
            case .closed: context.close(promise: nil)
            }
        }
    }
}
