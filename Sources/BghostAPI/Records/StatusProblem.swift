// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// A problem in a status that an operator should resolve.
package struct StatusProblem: Codable, Equatable, Sendable {
    enum Kind: String, Codable, Equatable, Sendable, CaseIterable {
        /// The store cannot write changes.
        case store
        /// The journal of transfers cannot write changes.
        case transferJournal
        /// The host has no valid lease in its fleet.
        case fleet
        /// No request of the fleet starts on this host, or partitions have no owner.
        case partitions
        /// A plugin is quarantined.
        case quarantine
        /// A plugin cannot be used.
        case plugin
        case deadLetters
        /// The last run of a task did not succeed.
        case failing
    }

    /// What kind of problem it is.
    var kind: Kind
    /// The plugin or task; "" if it concerns several.
    @EmptyAsNull var subject: String
    /// One sentence without a full stop: the problem, and how to resolve it.
    package var message: String

    init(_ kind: Kind, _ subject: String = "", _ message: String) {
        self.kind = kind
        self.subject = subject
        self.message = message
    }
}

extension HostStatus {
    /// The problems that an operator should resolve, the most important first; empty if the daemon is
    /// healthy.
    package var problems: [StatusProblem] {
        storeProblems + journalProblems + fleetProblems + plugins.compactMap(\.statusProblem)
            + deadLetterProblems
            + failingProblems
    }

    private var storeProblems: [StatusProblem] {
        guard let since = store.failingSince else { return [] }
        let moment = Timestamp.text(unixNanoseconds: since)
        return [StatusProblem(.store, "", store.sentence(since: moment))]
    }

    private var journalProblems: [StatusProblem] {
        guard let transferJournal, let since = transferJournal.failingSince else { return [] }
        let moment = Timestamp.text(unixNanoseconds: since)
        return [StatusProblem(.transferJournal, transferJournal.sentence(since: moment))]
    }

    private var fleetProblems: [StatusProblem] {
        let listing = "; `bghost status --fleet` shows its hosts"
        return [
            fleetProblem.map { StatusProblem(.fleet, $0 + listing) },
            partitionsProblem.map { StatusProblem(.partitions, $0 + listing) },
        ].compactMap(\.self)
    }

    /// The same status with these tasks, their plugins and their problems only.
    package func selecting(_ identifiers: Set<String>) -> HostStatus {
        var status = self
        status.tasks.removeAll { !identifiers.contains($0.identifier) }
        status.tasksOmitted = 0
        let names = Set(status.tasks.map(\.plugin))
        status.plugins.removeAll { !names.contains($0.name) }
        status.pauses.removeAll { pause in
            !status.tasks.contains { pause.target.covers($0.identifier, plugin: $0.plugin) }
        }
        status.deadLetters = status.tasks.reduce(0) { $0 + $1.deadLetters }
        return status
    }

    /// The tasks whose last run failed, or that have dead letters.
    package var failingTasks: [TaskStatus] {
        tasks.filter { $0.isFailing || $0.deadLetters > 0 }
    }

    private var deadLetterProblems: [StatusProblem] {
        guard deadLetters > 0 else { return [] }
        let noun = deadLetters == 1 ? "dead letter" : "dead letters"
        return [StatusProblem(.deadLetters, "\(deadLetters) \(noun); `bghost dead` lists them")]
    }

    private var failingProblems: [StatusProblem] {
        tasks.filter(\.isFailing).map { task in
            let outcome = task.last?.outcome?.text ?? ""
            let run = task.last.map { "; `bghost show \($0.id)` shows the run" } ?? ""
            return StatusProblem(
                .failing,
                task.identifier,
                "the last run of \(task.identifier) ended as \(outcome)\(run)"
            )
        }
    }
}

extension StatusProblem {
    fileprivate init(_ kind: Kind, _ message: String) { self.init(kind, "", message) }
}

extension TaskStatus {
    /// Whether its last run failed, crashed, or was killed or lost.
    package var isFailing: Bool {
        switch last?.outcome {
        case .failed, .killed, .crashed, .lost, .abandoned: true
        case .succeeded, .cancelledClean, nil: false
        }
    }
}

extension PluginStatus {
    fileprivate var statusProblem: StatusProblem? {
        if let quarantine {
            return StatusProblem(
                .quarantine,
                name,
                "plugin \(name) is quarantined: \(problem ?? quarantine.reason)"
            )
        }
        return problem.map { StatusProblem(.plugin, name, "plugin \(name): \($0)") }
    }
}
