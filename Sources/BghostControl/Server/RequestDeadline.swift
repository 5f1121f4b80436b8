// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose next request does not arrive whole in time.
///
/// A timeout between two reads would not do: one byte a second would hold the connection, and there
/// are only so many. While an answer is being made no deadline runs; a wait may take as long as its
/// run.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let receiveTime: TimeAmount
    private let idleTime: TimeAmount
    private var deadline: Scheduled<Void>?
    private var isReceiving = false

    /// - Parameters:
    ///   - receiveTime: for a first request, and for a body from its head on.
    ///   - idleTime: between two requests, the head of the second included.
    init(receiveTime: TimeAmount, idleTime: TimeAmount) {
        self.receiveTime = receiveTime
        self.idleTime = idleTime
    }

    func channelActive(context: ChannelHandlerContext) {
        arm(receiveTime, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
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
        // An answer that came before the end of its request does not extend the request's time.
        if case .end = unwrapOutboundIn(data), !isReceiving { arm(idleTime, context) }
        context.write(data, promise: promise)
    }

    private func arm(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            context.close(promise: nil)
        }
    }
}
