// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// All transfers that have not been dealt with, the oldest first.
    package func transfers() async throws -> Answer<[TransferView]> {
        try await call(.GET, ControlPath("transfers")) {
            $0["transfers"]?.array.map { $0.compactMap(TransferView.init(json:)) }
        }
    }

    /// Ends the transfer whose id begins like this.
    package func cancelTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "cancel")) {
            $0["transfer"].flatMap(TransferView.init(json:))
        }
    }

    /// Tries a transfer again now that would be tried again later.
    package func retryTransfer(_ prefix: String) async throws -> Answer<TransferView> {
        try await call(.POST, ControlPath("transfers", prefix, "retry")) {
            $0["transfer"].flatMap(TransferView.init(json:))
        }
    }
}
