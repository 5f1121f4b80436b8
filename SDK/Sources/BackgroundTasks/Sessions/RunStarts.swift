// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Actions of higher modules at the start of a run, before its handler.
package enum RunStarts {
    private static let actions = Mutex<[@Sendable (TaskContext) -> Void]>([])

    /// Adds an action, for all runs that start from now on.
    package static func add(_ action: @escaping @Sendable (TaskContext) -> Void) {
        actions.withLock { $0.append(action) }
    }

    static func perform(in context: TaskContext) {
        for action in actions.withLock({ $0 }) { action(context) }
    }
}
