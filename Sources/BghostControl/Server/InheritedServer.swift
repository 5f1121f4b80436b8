// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOPosix
internal import ServiceLifecycle

/// Serves the connections of a socket that the service manager opened and that listens already.
///
/// Hummingbird's own server can only bind an address.
struct InheritedServer: Service, CustomStringConvertible {
    /// The server closes it; the service manager keeps a descriptor of its own.
    let descriptor: Int32
    let connections: HTTP1Channel
    let connectionsMax: Int
    let logger: Logger
    /// Called once, when the server accepts connections.
    let onListening: @Sendable (any Channel) async -> Void

    var description: String { "the server of the inherited socket" }

    func run() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let (connections, connectionsMax, logger) = (connections, connectionsMax, logger)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    try handlers.addHandler(
                        AvailableConnectionsChannelHandler(maxConnections: connectionsMax)
                    )
                    try handlers.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(descriptor) { channel in connections.setup(channel: channel, logger: logger) }
        try await withGracefulShutdownHandler {
            await onListening(listener.channel)
            try await listener.executeThenClose { inbound in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in inbound {
                        group.addTask {
                            await connections.handle(value: connection, logger: logger)
                        }
                    }
                }
            }
        } onGracefulShutdown: {
            // It accepts no more connections, and closes each one after its current answer.
            quiescing.initiateShutdown(promise: nil)
        }
    }
}
