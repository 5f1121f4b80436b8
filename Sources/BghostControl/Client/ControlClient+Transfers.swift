// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// All transfers whose end is not acknowledged, the oldest first.
    package func transfers() async throws -> Answer<[TransferView]> {
        try await call(.GET, ControlPath("transfers")) {
            $0["transfers"]?.array.map { $0.compactMap(TransferView.init(json:)) }
        }
    }

    /// Cancels the transfer whose id has this prefix.
    package func cancelTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "cancel")) {
            $0["transfer"].flatMap(TransferView.init(json:))
        }
    }

    /// Starts the next attempt of a transfer now instead of after its delay.
    package func retryTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "retry")) {
            $0["transfer"].flatMap(TransferView.init(json:))
        }
    }
}
