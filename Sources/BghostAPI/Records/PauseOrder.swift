// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// What an operator asks for with a pause.
package struct PauseOrder: Equatable, Sendable {
    /// When the pause ends by itself.
    package enum End: Equatable, Sendable {
        /// Never: `resume` ends it.
        case open
        /// At a time as an operator writes it, in the zone of the manifest unless it has an offset.
        case at(String)
        /// After so many seconds.
        case after(Int)
    }

    package var target: PauseTarget
    package var end: End
    package var reason: String
    /// Who asks, such as `uid 0`.
    package var user: String

    package init(target: PauseTarget, end: End = .open, reason: String = "", user: String) {
        self.target = target
        self.end = end
        self.reason = reason
        self.user = user
    }
}

/// A pause that began or ended.
package struct PauseChange: Equatable, Sendable {
    package var pause: Pause
    /// Runs of its tasks that are in progress, and continue.
    package var running: [RunID]
    /// Other pauses in force that cover its target: after a resume, its tasks stay paused by them.
    package var others: [Pause]

    package init(pause: Pause, running: [RunID] = [], others: [Pause] = []) {
        self.pause = pause
        self.running = running
        self.others = others
    }
}
