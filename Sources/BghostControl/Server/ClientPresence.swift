// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// Whether the client of a connection is still there, for requests that take long.
///
/// The HTTP server notices that only when it reads the next request. Safe on any thread.
final class ClientPresence: Sendable {
    private struct State {
        var hasLeft = false
        var actions: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The presence of the client of a connection; of one without a handler, it never leaves.
    static func of(_ channel: any Channel) async -> ClientPresence {
        let handler = channel.pipeline.handler(type: PresenceHandler.self).map(\.presence)
        // A closed connection has no handlers any more.
        guard let presence = try? await handler.get() else { return departed }
        return presence
    }

    private static var departed: ClientPresence {
        let presence = ClientPresence()
        presence.leave()
        return presence
    }

    /// Has an action called once when the client leaves, at once if it has left.
    ///
    /// - Returns: the number for ``forget(_:)``.
    func onLeave(_ action: @escaping @Sendable () -> Void) -> UInt64 {
        let number: UInt64? = state.withLock { state in
            guard !state.hasLeft else { return nil }
            state.last += 1
            state.actions[state.last] = action
            return state.last
        }
        if number == nil { action() }
        return number ?? 0
    }

    func forget(_ number: UInt64) { state.withLock { $0.actions[number] = nil } }

    /// Does work that is cancelled when the client leaves.
    func whilePresent<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let work = Task { try await body() }
        let number = onLeave { work.cancel() }
        defer { forget(number) }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
    }

    fileprivate func leave() {
        let actions = state.withLock { state in
            state.hasLeft = true
            defer { state.actions = [:] }
            return state.actions.sorted { $0.key < $1.key }
        }
        for (_, action) in actions { action() }
    }
}

/// Tells the presence of a client when it leaves.
final class PresenceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    let presence = ClientPresence()

    func channelInactive(context: ChannelHandlerContext) {
        presence.leave()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client of a Unix socket may end its requests and read on: the kernel tells when it closes the socket.
        // One of TCP that has gone looks the same as one that reads on, and no browser does that.
        if event as? ChannelEvent == .inputClosed,
            context.channel.remoteAddress?.protocol != .unix
        {
            presence.leave()
        }
        context.fireUserInboundEventTriggered(event)
    }
}
