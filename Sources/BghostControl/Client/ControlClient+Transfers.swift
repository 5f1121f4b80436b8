// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// All transfers whose end is not acknowledged, the oldest first.
    package func transfers() async throws -> Answer<[TransferView]> {
        try await call(.GET, ControlPath("transfers"), Schema.transfers) { $0.transfers }
    }

    /// Cancels the transfer whose id has this prefix.
    package func cancelTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "cancel"), Schema.transfer) {
            $0.transfer
        }
    }

    /// Starts the next attempt of a transfer now instead of after its delay.
    package func retryTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "retry"), Schema.transfer) {
            $0.transfer
        }
    }
}
