// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostModel
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The pauses in force, the oldest first.
    package func pauses() async throws -> Answer<[Pause]> {
        try await call(.GET, ControlPath("pauses"), Schema.pauses) { $0.pauses.map(\.pause) }
    }

    /// Pauses tasks.
    package func pause(
        _ target: PauseTarget,
        end: PauseOrder.End,
        reason: String
    ) async throws -> Answer<PauseChange> {
        var path = ControlPath("pauses").with(target)
            .with("reason", reason.isEmpty ? nil : reason)
        switch end {
        case .open: break
        case .at(let text): path = path.with("until", text)
        case .after(let seconds): path = path.with("for", seconds)
        }
        return try await call(.POST, path, Schema.pause) { $0.change }
    }

    /// Ends the pause of exactly this target.
    package func resume(_ target: PauseTarget) async throws -> Answer<PauseChange> {
        try await call(.DELETE, ControlPath("pauses").with(target), Schema.resume) { $0.change }
    }
}

extension ControlPath {
    fileprivate func with(_ target: PauseTarget) -> ControlPath {
        switch target {
        case .all: with("all", true)
        case .plugin(let name): with("plugin", name)
        case .tasks(let name): with("task", name)
        }
    }
}
