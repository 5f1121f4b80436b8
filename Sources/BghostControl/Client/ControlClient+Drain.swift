// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// Makes the daemon stop, and waits until no run is left or the rest is cancelled.
    ///
    /// - Parameters:
    ///   - finishes: whether its runs may end by themselves.
    ///   - seconds: when those that are left are cancelled; `nil` for never.
    package func drain(finishes: Bool, within seconds: Int?) async throws -> Answer<DrainStatus> {
        let path = ControlPath("drain").with("finish", finishes ? true : nil)
            .with("within", seconds).with("wait", true)
        return try await call(.POST, path, within: .hours(24 * 365), Schema.drain)
    }

    /// How far the daemon is with its end.
    package func drainStatus() async throws -> Answer<DrainStatus> {
        try await call(.GET, ControlPath("drain"), Schema.drain)
    }
}
