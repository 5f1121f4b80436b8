// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1

extension HTTP1Channel.Configuration {
    /// Connections whose requests are limited in size and time.
    ///
    /// - Parameter first: the handlers before the one that limits the time, made for each connection.
    static func bounded(
        _ limits: ControlLimits,
        first: @autoclosure @escaping @Sendable () -> [any RemovableChannelHandler]
    ) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: first() + [
                ConnectionHeaderHandler.Installer(),
                PresenceHandler(),
                RequestDeadline(
                    receiveTime: TimeAmount(limits.receiveTime),
                    idleTime: TimeAmount(limits.idleTime),
                    stallTime: TimeAmount(limits.stallTime)
                ),
            ],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: ControlLimits.headBytesMax,
                maxHeaderListSize: ControlLimits.headBytesMax,
                maxHeaderFieldCount: ControlLimits.headFieldsMax
            )
        )
    }
}
