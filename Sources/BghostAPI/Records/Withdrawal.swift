// SPDX-License-Identifier: Apache-2.0

/// The tasks whose waiting requests an operator withdraws.
package enum Withdrawal: Equatable, Sendable {
    case all
    case task(String)
    /// The tasks of the manifest that have this tag.
    case tag(String)
}

extension HostControl {
    /// Withdraws all waiting requests, of one task or of all tasks.
    package func cancelPending(
        task: String?
    ) async throws(OperatorRefusal) -> [PendingRequest] {
        try await cancelPending(task.map { .task($0) } ?? .all, expected: nil)
    }
}
