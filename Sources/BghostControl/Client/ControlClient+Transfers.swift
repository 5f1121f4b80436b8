// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// All transfers whose end is not acknowledged, the oldest first.
    ///
    /// - Parameter limit: of each page.
    package func transfers(
        limit: Int = ControlLimits.transfersMax
    ) async throws -> Answer<[TransferView]> {
        var all: [TransferView] = []
        var cursor: String?
        while true {
            let path = ControlPath("transfers").with("limit", limit).with("cursor", cursor)
            let answer = try await call(.GET, path, Schema.transfers) { ($0.transfers, $0.next) }
            let (page, next) = answer.value
            all += page
            // One page is the answer of the daemon as it is.
            if cursor == nil, next == nil { return Answer(value: all, json: answer.json) }
            guard let next else { break }
            cursor = next
        }
        let whole = API.Transfers(transfers: all, total: all.count)
        return Answer(value: all, json: APICoder.text(Schema.transfers, whole))
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
