// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostRecords
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// All that waits for a run; of one task, or of all.
    package func pending(task: String?, limit: Int? = nil) async throws -> Answer<PendingList> {
        let path = ControlPath("pending").with("task", task).with("limit", limit)
        return try await call(.GET, path, read: PendingList.init(json:))
    }

    /// What was withdrawn.
    package struct Cancelled: Equatable, Sendable {
        package var count: Int
        /// Not more of them than one answer holds.
        package var requests: [PendingRequest]
    }

    /// Withdraws all that waits for a run; of one task, or of all.
    package func cancelPending(task: String?) async throws -> Answer<Cancelled> {
        let path = task.map { ControlPath("tasks", $0, "pending") } ?? ControlPath("pending")
        return try await call(.DELETE, path) { json in
            PendingList(json: json).map { list in
                let count = json["count"]?.int64.map(Int.init(clamping:))
                return Cancelled(count: count ?? list.requests.count, requests: list.requests)
            }
        }
    }

    /// Asks the run whose id begins like this to stop, and not to be repeated.
    package func stop(run prefix: String) async throws -> Answer<Expiring> {
        try await call(.POST, ControlPath("runs", prefix, "stop"), read: Expiring.init(json:))
    }

    // MARK: - Dead letters

    /// Requests that are tried no more, the newest first.
    package func deadLetters(task: String?, limit: Int? = nil) async throws -> Answer<[DeadLetter]>
    {
        let path = ControlPath("dead").with("task", task).with("limit", limit)
        return try await call(.GET, path) {
            $0["deadLetters"]?.array.map { $0.compactMap(DeadLetter.init(json:)) }
        }
    }

    /// Has dead requests wait for a run again.
    package func redrive(_ choice: DeadLetterChoice) async throws -> Answer<DeadLetterChange> {
        try await call(
            .POST,
            ControlPath("dead", "redrive").with(choice),
            read: DeadLetterChange.init(json:)
        )
    }

    /// Gives dead requests up.
    package func discard(_ choice: DeadLetterChoice) async throws -> Answer<DeadLetterChange> {
        try await call(
            .POST,
            ControlPath("dead", "discard").with(choice),
            read: DeadLetterChange.init(json:)
        )
    }

    // MARK: - Debts

    /// What a task owes, or each that owes something.
    package func throttles(task: String?) async throws -> Answer<[ThrottleStatus]> {
        try await call(.GET, ControlPath("throttle").with("task", task)) {
            $0["tasks"]?.array.map { $0.compactMap(ThrottleStatus.init(json:)) }
        }
    }

    /// Forgives what a task owes.
    ///
    /// - Returns: the points that it owed.
    package func forgive(task: String) async throws -> Answer<Int> {
        try await call(.DELETE, ControlPath("tasks", task, "throttle")) {
            $0["points"]?.int64.map(Int.init(clamping:))
        }
    }

    // MARK: - Uses

    /// What has been learned of a task's use, or of each that learns it.
    package func uses(task: String?) async throws -> Answer<[UseStatus]> {
        try await call(.GET, ControlPath("uses").with("task", task)) {
            $0["tasks"]?.array.map { $0.compactMap(UseStatus.init(json:)) }
        }
    }

    /// Says that what a task refreshes is being used.
    package func use(task: String) async throws -> Answer<UseStatus> {
        try await call(.POST, ControlPath("tasks", task, "uses"), read: UseStatus.init(json:))
    }

    /// Has the daemon forget when a task was used.
    package func forgetUses(task: String) async throws -> Answer<UseStatus> {
        try await call(.DELETE, ControlPath("tasks", task, "uses"), read: UseStatus.init(json:))
    }

    // MARK: - Plugins

    /// Switches a plugin off.
    package func disable(
        plugin: String,
        reason: String = "",
        stopsRuns: Bool = false
    ) async throws -> Answer<PluginSwitch> {
        let path = ControlPath("plugins", plugin, "disable")
            .with("reason", reason.isEmpty ? nil : reason).with("stop", stopsRuns ? true : nil)
        return try await call(.POST, path, read: PluginSwitch.init(json:))
    }

    /// Switches a plugin on.
    package func enable(plugin: String) async throws -> Answer<PluginSwitch> {
        try await call(
            .POST,
            ControlPath("plugins", plugin, "enable"),
            read: PluginSwitch.init(json:)
        )
    }

    // MARK: - The store

    /// Has the daemon write a copy of its store.
    ///
    /// - Parameter path: absolute, on the daemon's machine.
    /// - Returns: the size of the copy, bytes.
    package func backUp(to path: String) async throws -> Answer<UInt64> {
        let path = ControlPath("backup").with("file", path)
        // A store of millions of requests takes its time.
        return try await call(.POST, path, within: .hours(24)) {
            $0["bytes"]?.int64.map(UInt64.init(clamping:))
        }
    }
}

extension ControlPath {
    fileprivate func with(_ choice: DeadLetterChoice) -> ControlPath {
        switch choice {
        case .request(let prefix): with("request", prefix)
        case .task(let task): with("task", task)
        case .all: with("all", true)
        }
    }
}
