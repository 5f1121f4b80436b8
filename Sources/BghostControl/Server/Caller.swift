// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import Hummingbird
internal import NIOCore

/// Who sent a request, and what it may do.
struct Caller: Equatable, Sendable {
    /// The process at the other end of the control socket; of a session, the one that asked for its ticket.
    let peer: PeerCredentials
    let role: ControlRole
    /// Whether the request came through the dashboard.
    var isDashboard = false
    /// The session of the dashboard, for the audit; "" without one.
    var session = ""

    var isMember: Bool { peer.isMember }
}

/// What is known of a request beside its text.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// `nil` for a request that changes nothing and follows nothing: the server does not look it up then.
    var caller: Caller?
    /// The token of the session, at the dashboard.
    var token: String?
    /// The connection of the request.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
