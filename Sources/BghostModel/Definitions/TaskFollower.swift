// SPDX-License-Identifier: Apache-2.0

/// The effect of a submission on the pending request of its task.
package enum ConflictPolicy: String, Equatable, Codable, Sendable, CaseIterable {
    /// The new request replaces the pending one, as with Apple.
    case replace
    /// The new request is dropped, and the pending one is returned.
    case keep
    /// The new request replaces the pending one but keeps its dates, so that repeated submissions with
    /// newer parameters do not postpone the run.
    case update
    /// The new request waits until those before it have ended: the pending one, retries and runs. Each
    /// appended request waits for the one before, in order.
    case append
}

/// A task that is submitted when a run of another task ends with success: an element of its `then`.
package struct TaskFollower: Equatable, Sendable {
    /// The most followers of one task.
    package static let countMax = 16

    /// An exact identifier, which may be a member of a family.
    package var task: String
    /// Whether the result of the run becomes the parameters of the request.
    package var takesResult: Bool
    /// What becomes of a pending request of the follower.
    package var onConflict: ConflictPolicy

    package init(
        task: String,
        takesResult: Bool = false,
        onConflict: ConflictPolicy = .replace
    ) {
        self.task = task
        self.takesResult = takesResult
        self.onConflict = onConflict
    }
}
