// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// Makes the daemon read its manifest again.
    ///
    /// - Parameter dryRun: whether it only says what a reload would change.
    package func reload(dryRun: Bool = false) async throws -> Answer<ReloadReport> {
        let path = ControlPath("reload").with("dryRun", dryRun ? true : nil)
        // The inspection of each changed plugin may take ten seconds.
        return try await call(.POST, path, within: .minutes(30), Schema.reload)
    }
}
