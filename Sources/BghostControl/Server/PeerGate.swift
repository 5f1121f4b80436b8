// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import Glibc
internal import NIOCore

/// Closes a connection before anything is read from it, unless its client has a role.
///
/// The modes of the socket and of its folder have the same effect, but an operator can change them. The
/// kernel fixes the credentials when the client connects, so passing the descriptor to another process does
/// not change them.
final class PeerGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let access: ControlAccess
    private let requests: OpenRequests
    private(set) var peer = PeerCredentials()
    private(set) var role: ControlRole?
    private var isMember = false

    init(_ access: ControlAccess, _ requests: OpenRequests) {
        self.access = access
        self.requests = requests
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let socket = context.channel as? any SocketOptionProvider else {
            return context.close(promise: nil)
        }
        // Both futures are completed already, because this code runs on the channel's event loop.
        let pidfd: EventLoopFuture<Int32> = socket.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET),
            name: NIOBSDSocket.Option(rawValue: Self.peerPIDFD)
        )
        let credentials: EventLoopFuture<PeerCredentials> = socket.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: SOL_SOCKET),
            name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        )
        pidfd.assumeIsolated().whenComplete { pidfd in
            credentials.assumeIsolated().whenComplete { credentials in
                // Kernels before 6.5 do not support it; then the client is identified by its pid.
                let descriptor = (try? pidfd.get()) ?? -1
                defer { if descriptor >= 0 { close(descriptor) } }
                guard case .success(let peer) = credentials,
                    self.admits(peer, pidfd: descriptor, on: context.channel)
                else { return context.close(promise: nil) }
                context.fireChannelActive()
            }
        }
    }

    private func admits(
        _ peer: PeerCredentials,
        pidfd: Int32,
        on channel: any Channel
    ) -> Bool {
        guard let role = access.role(of: peer, pidfd: pidfd) else { return false }
        isMember = peer.isMember
        // Clients with read access must not use up the connections of the operator.
        if isMember, !requests.add(member: ObjectIdentifier(channel)) {
            isMember = false
            return false
        }
        (self.peer, self.role) = (peer, role)
        return true
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isMember { requests.remove(member: ObjectIdentifier(context.channel)) }
        isMember = false
        context.fireChannelInactive()
    }

    /// `SO_PEERPIDFD`, which glibc does not define yet.
    private static let peerPIDFD: CInt = 77
}
