// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// How much history of runs the daemon keeps: `host.history`.
///
/// What exceeds any of the limits is deleted, the oldest first.
package struct HistorySettings: Equatable, Sendable {
    /// Ended runs, and separately starts that did not happen.
    package var runs: Int
    /// Since a run ended.
    package var age: Duration
    /// The approximate size of the runs without their output, bytes.
    package var bytes: UInt64
    /// The approximate size of the output of runs, bytes; that of successful runs is deleted first.
    package var outputBytes: UInt64
    /// Of how many days on which a run ended the sums of runs by task are kept; they stay when the runs are
    /// deleted.
    package var rollups: Int

    package init(
        runs: Int = 100_000,
        age: Duration = .seconds(30 * 86_400),
        bytes: UInt64 = 256 << 20,
        outputBytes: UInt64 = 64 << 20,
        rollups: Int = 400
    ) {
        self.runs = runs
        self.age = age
        self.bytes = bytes
        self.outputBytes = outputBytes
        self.rollups = rollups
    }
}

/// How much history of one identifier is kept: `history` of a task; `nil` means as much as the host keeps.
package struct TaskHistory: Equatable, Sendable {
    /// Ended runs of each identifier.
    package var runs: Int?
    package var age: Duration?

    package init(runs: Int? = nil, age: Duration? = nil) {
        self.runs = runs
        self.age = age
    }

    package var isEmpty: Bool { runs == nil && age == nil }
}

/// The limits of the history, of the host and of each task, and those of the audit.
package struct HistoryPolicy: Equatable, Sendable {
    package var host: HistorySettings
    package var audit: AuditSettings
    /// By pattern; empty if no task has limits of its own.
    private var tasks: [String: TaskHistory] = [:]

    package init(
        host: HistorySettings = HistorySettings(),
        audit: AuditSettings = AuditSettings(),
        tasks: [String: TaskHistory] = [:]
    ) {
        self.host = host
        self.audit = audit
        // A task without limits must hide those of a family that it belongs to.
        if tasks.values.contains(where: { !$0.isEmpty }) { self.tasks = tasks }
    }

    package init(_ manifest: Manifest) {
        var tasks: [String: TaskHistory] = [:]
        for task in manifest.tasks { tasks[task.identifier.description] = task.history }
        self.init(host: manifest.host.history, audit: manifest.host.audit, tasks: tasks)
    }

    package var hasLimitsOfTasks: Bool { !tasks.isEmpty }

    /// The limits of an identifier's own history; `nil` if it has none.
    ///
    /// It costs one lookup for each dot of the identifier.
    package func limits(ofTask identifier: String) -> TaskHistory? {
        guard !tasks.isEmpty, identifier.utf8.count <= IdentifierPattern.bytesMax else {
            return nil
        }
        if let own = tasks[identifier] { return own.isEmpty ? nil : own }
        var stem = identifier[...]
        while let dot = stem.lastIndex(of: ".") {
            if let family = tasks[stem[...dot] + "*"] { return family.isEmpty ? nil : family }
            stem = stem[..<dot]
        }
        return nil
    }
}
