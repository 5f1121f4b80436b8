// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel
internal import BghostPolicy

extension API {
    /// A pause: nothing of its tasks starts.
    package struct Pause: Codable, Equatable, Sendable {
        /// What is paused: `all`, `plugin` or `tasks`.
        package var scope: PauseTarget.Scope
        /// The plugin, task or pattern; "" for `all`.
        @OrDefault package var name: String
        /// Since when.
        @Formatted<RFC3339> package var since: Int64
        /// When it ends by itself; null if only `resume` ends it.
        @FormOrNull<RFC3339> package var until: Int64?
        /// Whether `until` was a duration, so that it moves when the clock is set.
        @OrDefault package var relative: Bool
        /// Who asked for it.
        @OrDefault package var by: String
        /// Why; "" without a reason.
        @OrDefault package var reason: String

        package init(_ pause: BghostModel.Pause) {
            scope = pause.target.scope
            _name = OrDefault(wrappedValue: pause.target.name)
            _since = Formatted(wrappedValue: pause.since)
            _until = FormOrNull(wrappedValue: pause.until)
            _relative = OrDefault(wrappedValue: pause.isRelative)
            _by = OrDefault(wrappedValue: pause.user)
            _reason = OrDefault(wrappedValue: pause.reason)
        }

        package var pause: BghostModel.Pause {
            BghostModel.Pause(
                target: PauseTarget(scope, name: name),
                since: since,
                until: until,
                isRelative: relative,
                user: by,
                reason: reason
            )
        }
    }

    /// The pauses in force, the oldest first.
    package struct Pauses: Codable, Equatable, Sendable {
        /// The pauses.
        @Elements package var pauses: [Pause]

        package init(pauses: [Pause]) { self.pauses = pauses }
    }

    /// A pause that began or ended.
    package struct PauseAnswer: Codable, Equatable, Sendable {
        /// The pause.
        package var pause: Pause
        /// The ids of runs of its tasks that are in progress, and continue.
        @ElementsOrEmpty package var running: [String]
        /// Other pauses that cover the same tasks, and stay.
        @ElementsOrEmpty package var others: [Pause]

        package init(_ change: PauseChange) {
            pause = Pause(change.pause)
            _running = ElementsOrEmpty(wrappedValue: change.running.map(\.description))
            _others = ElementsOrEmpty(wrappedValue: change.others.map(Pause.init))
        }

        package var change: PauseChange {
            PauseChange(
                pause: pause.pause,
                running: running.compactMap { RunID($0) },
                others: others.map(\.pause)
            )
        }
    }
}
