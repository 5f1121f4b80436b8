// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose next request does not arrive whole in time, or whose client does not take
/// its answer.
///
/// A timeout between two reads would not do: one byte a second would hold the connection, and there
/// are only so many. While an answer is being made no deadline runs; a wait may take as long as its
/// run. An answer without an end, as when somebody follows the log, may wait for its reader: it holds
/// no more than a few lines.
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
    ///   - receiveTime: for a first request, and for a body from its head on.
    ///   - idleTime: between two requests, the head of the second included.
    ///   - stallTime: for a client to make room for more of its answer.
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
