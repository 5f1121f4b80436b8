// SPDX-License-Identifier: Apache-2.0

package import BghostAlerts
package import BghostLinux
package import BghostModel

/// A message on its way to one receiver.
package struct AlertDelivery: Sendable {
    package var message: AlertMessage
    /// The name of this machine.
    package var host: String
    /// How many earlier messages the receiver did not get.
    package var dropped: Int

    package init(message: AlertMessage, host: String, dropped: Int = 0) {
        self.message = message
        self.host = host
        self.dropped = dropped
    }

    package var text: AlertText { AlertText(message, host: host, dropped: dropped) }
}

/// Why a receiver did not take a message.
package struct AlertFailure: Error, Equatable, Sendable {
    /// A clause without secrets, such as "it answered 503".
    package var reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// Sends messages and heartbeats, on threads of its own.
package protocol AlertTransport: Sendable {
    /// Sends a message once; it ends within a bounded time.
    ///
    /// - Parameters:
    ///   - receiver: not the task of `notifications`, which the daemon submits itself.
    ///   - spawner: starts the program of a receiver, so that no worker's end takes it for an orphan.
    /// - Returns: what the receiver answered, in a few words.
    func send(
        _ delivery: AlertDelivery,
        to receiver: AlertReceiver,
        spawner: Spawner
    ) async -> Result<String, AlertFailure>

    /// Reports that the daemon lives.
    ///
    /// - Parameters:
    ///   - url: as the manifest has it.
    ///   - reasons: what is wrong, at most 10 KB; "" if all is well.
    func beat(_ url: String, reasons: String) async -> Result<String, AlertFailure>
}
