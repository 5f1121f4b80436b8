// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// Makes the daemon read its manifest again.
    package func reload() async throws -> Answer<ReloadReport> {
        // The inspection of each changed plugin may take ten seconds.
        try await call(.POST, ControlPath("reload"), within: .minutes(30), Schema.reload)
    }
}
