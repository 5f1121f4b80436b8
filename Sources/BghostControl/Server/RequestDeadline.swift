// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection if its next request does not arrive completely in time, or if its client does not read
/// the response.
///
/// A timeout between two reads would not suffice: a client that sends one byte per second could occupy one of
/// the few connections. No deadline applies while a response is being prepared, because a client may wait for
/// a run. No deadline applies to an endless response, such as a followed log; it buffers only a few lines.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let receiveTime: TimeAmount
    private let idleTime: TimeAmount
    private let stallTime: TimeAmount
    private var stall: Scheduled<Void>?
    private var isEndless = false
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
        stall?.cancel()
        if !context.channel.isWritable, !isEndless {
            stall = context.eventLoop.assumeIsolated().scheduleTask(in: stallTime) {
                context.close(promise: nil)
            }
        }
        context.fireChannelWritabilityChanged()
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
        if case .head(let head) = unwrapOutboundIn(data) {
            isEndless = head.headerFields[.contentLength] == nil
        }
        // A response before the end of its request does not extend the request's time.
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
