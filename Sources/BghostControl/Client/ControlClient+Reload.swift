// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// Has the daemon read its manifest anew.
    package func reload() async throws -> Answer<ReloadReport> {
        // Each plugin that has changed may take ten seconds to be looked at.
        try await call(
            .POST,
            ControlPath("reload"),
            within: .minutes(30),
            read: ReloadReport.init(json:)
        )
    }
}
