// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Tells ``DashboardConnections`` what one connection does.
final class DashboardConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: DashboardConnections
    private let sessions: DashboardSessions
    /// Who began the session of the newest request; `nil` if it has none.
    private var caller: Caller?
    private var requests = 0
    private var answers = 0

    init(_ connections: DashboardConnections, _ sessions: DashboardSessions) {
        self.connections = connections
        self.sessions = sessions
    }

    func channelActive(context: ChannelHandlerContext) {
        connections.opened(context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        connections.closed(context.channel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            caller = DashboardServer.token(head.headerFields).flatMap(sessions.caller)
        case .body: break
        case .end:
            requests += 1
            if requests > answers { connections.answers(context.channel, for: caller) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        // The connection may be closed only when the kernel has the whole answer.
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenSuccess {
            self.answers += 1
            if self.answers >= self.requests { self.connections.waits(context.channel) }
        }
        context.write(data, promise: written)
    }
}
