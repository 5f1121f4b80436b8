// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Closes a connection after the answer if its request asks for that, and sends `100 Continue`.
///
/// The HTTP server closes it only for `Connection: close` in exactly these letters, not for HTTP/1.0, and
/// sends no `100 Continue`, so that a client waits for a second before it sends a body.
final class ConnectionHeaderHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Adds the handler directly behind the decoder; the handlers behind it do not see the version of HTTP.
    final class Installer: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = Any

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(
                    type: ByteToMessageHandler<HTTPRequestDecoder>.self
                )
                try pipeline.addHandler(ConnectionHeaderHandler(), position: .after(decoder))
            } catch {
                context.close(promise: nil)
            }
        }
    }

    /// The requests without the end of their answer.
    private var open = 0
    /// Whether the newest request is the last one of the connection.
    private var isLast = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            return context.fireChannelRead(data)
        }
        open += 1
        isLast = !head.isKeepAlive
        // In the form that the server compares with.
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        // Behind another request, it would stand in the answer to that one.
        if open == 1, Self.waitsToSend(head) {
            let answer = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isLast && open == 1:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end: open -= 1
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    /// Whether the client sends the body only after `100 Continue`, and the body is not too large.
    private static func waitsToSend(_ head: HTTPRequestHead) -> Bool {
        guard head.version == .http1_1,
            head.headers[canonicalForm: "Expect"].contains(where: {
                $0.lowercased() == "100-continue"
            })
        else { return false }
        guard let length = head.headers.first(name: "Content-Length") else { return true }
        return Int(length).map { $0 <= ControlLimits.bodyBytesMax } ?? false
    }
}
