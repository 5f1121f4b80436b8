// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection if its next request does not arrive completely in time, or if its client does not read
/// the response.
///
/// A timeout between two reads would not suffice: a client that sends one byte per second could occupy one of
/// the few connections. No deadline applies while a response is being prepared, because a client may wait for
/// a run, nor to an endless response, such as a followed log, while it has nothing to send.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let receiveTime: TimeAmount
    private let idleTime: TimeAmount
    private let stallTime: TimeAmount
    private var stall: Scheduled<Void>?
    private var deadline: Scheduled<Void>?
    private var isReceiving = false

    /// - Parameters:
    ///   - receiveTime: for a first request, and for a body after its head.
    ///   - idleTime: between two requests, including the head of the second.
    ///   - stallTime: for a client to read more of its response.
    init(receiveTime: TimeAmount, idleTime: TimeAmount, stallTime: TimeAmount) {
        self.receiveTime = receiveTime
        self.stallTime = stallTime
        self.idleTime = idleTime
    }

    func channelActive(context: ChannelHandlerContext) {
        arm(receiveTime, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        stall?.cancel()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        watchStall(context)
        context.fireChannelWritabilityChanged()
    }

    /// Begins the client's time to read more, if there is more.
    private func watchStall(_ context: ChannelHandlerContext) {
        stall?.cancel()
        guard !context.channel.isWritable else { return }
        stall = context.eventLoop.assumeIsolated().scheduleTask(in: stallTime) {
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReceiving = true
            arm(receiveTime, context)
        case .body: break
        case .end:
            isReceiving = false
            deadline?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let body) where body.readableBytes > Self.pieceBytes:
            return write(body, context, promise)
        // A response before the end of its request does not extend the request's time.
        case .end where !isReceiving: arm(idleTime, context)
        case .head, .body, .end: break
        }
        context.write(data, promise: promise)
    }

    /// The part of a body that a client must read in its time.
    private static let pieceBytes = 128 << 10

    /// Writes a large body in pieces, to see that the client reads.
    private func write(
        _ body: ByteBuffer,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        var rest = body
        while rest.readableBytes > Self.pieceBytes,
            let piece = rest.readSlice(length: Self.pieceBytes)
        {
            let written = context.eventLoop.makePromise(of: Void.self)
            // After a failure the channel is closed.
            written.futureResult.assumeIsolated().whenSuccess { self.watchStall(context) }
            context.write(wrapOutboundOut(.body(piece)), promise: written)
        }
        context.write(wrapOutboundOut(.body(rest)), promise: promise)
    }

    private func arm(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }
}
