// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Closes a connection before anything is read from it unless its owner may steer the daemon.
///
/// The modes of the socket and of its folder say the same, but a mode can be loosened by hand. The
/// kernel fixes the credentials when the peer connects, so passing the descriptor on changes nothing.
final class PeerGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let allows: @Sendable (PeerCredentials) -> Bool

    init(allows: @escaping @Sendable (PeerCredentials) -> Bool) {
        self.allows = allows
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let socket = context.channel as? any SocketOptionProvider else {
            return context.close(promise: nil)
        }
        let credentials: EventLoopFuture<PeerCredentials> = socket.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET),
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        // Completed already, since this is the channel's own loop: nothing is read in between.
        credentials.assumeIsolated().whenComplete { result in
            if case .success(let peer) = result, self.allows(peer) {
                context.fireChannelActive()
            } else {
                context.close(promise: nil)
            }
        }
    }
}
