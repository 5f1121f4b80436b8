// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostModel

/// What the daemon counts of its runs since its start.
///
/// It is a pure value. A run costs one lookup of its task and one of its plugin, whatever was counted before. The
/// number of names is bounded: later ones are counted together under ``otherName``, so that a plugin that
/// submits many identifiers cannot fill a monitoring system.
package struct RunStatistics: Equatable, Sendable {
    /// The most tasks that are counted by name.
    package static let tasksMax = 1000
    /// The most plugins that are counted by name.
    package static let pluginsMax = 256
    /// The name under which all others are counted; no task and no plugin can have it.
    package static let otherName = "_other"

    /// The runs of one task; those of a family are counted under its pattern.
    package struct OfTask: Equatable, Sendable {
        /// By ``OutcomeClass/index``.
        fileprivate(set) var outcomes = [UInt64](repeating: 0, count: OutcomeClass.allCases.count)
        /// The number of failed runs since the last one that succeeded.
        package fileprivate(set) var consecutiveFailures: UInt64 = 0
        /// Unix nanoseconds; `nil` if no run has ended yet.
        package fileprivate(set) var lastEnd: Int64?
        /// Unix nanoseconds; `nil` if no run has succeeded yet.
        package fileprivate(set) var lastSuccess: Int64?

        package func count(_ outcome: OutcomeClass) -> UInt64 { outcomes[outcome.index] }
    }

    /// The runs of one plugin.
    package struct OfPlugin: Equatable, Sendable {
        /// The number of runs that have started and not ended.
        package fileprivate(set) var active: UInt64 = 0
        /// From the start of the handler to the end of the run.
        package fileprivate(set) var durations = DurationHistogram()
        /// From the time when the request could start to the start of the handler.
        package fileprivate(set) var startDelays = DurationHistogram()
        /// From the cancellation to the end of the run.
        package fileprivate(set) var cancelDurations = DurationHistogram()
        /// The processor time of its runs, nanoseconds.
        package fileprivate(set) var processorTime: UInt64 = 0
        /// The number of killed runs, by ``KillReason/label``.
        package fileprivate(set) var kills: [String: UInt64] = [:]
        /// The number of workers that were started and have loaded it.
        package fileprivate(set) var workerStarts: UInt64 = 0
    }

    private var tasks: [String: OfTask] = [:]
    private var plugins: [String: OfPlugin] = [:]
    /// The number of names that are counted under ``otherName``, at least: a name is counted each time that
    /// it comes.
    package private(set) var folded: UInt64 = 0
    /// How long workers of all plugins took from their start until they had loaded their plugin.
    package private(set) var workerStarts = DurationHistogram()

    package init() {}

    /// The counted tasks, in the order of their names.
    package var tasksByName: [(name: String, counts: OfTask)] {
        tasks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The counted plugins, in the order of their names.
    package var pluginsByName: [(name: String, counts: OfPlugin)] {
        plugins.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Counts the tasks and plugins of a manifest from 0, so that their series exist before the first run.
    package mutating func declare(
        tasks names: some Sequence<String>,
        plugins: some Sequence<String>
    ) {
        for name in names where tasks.count < Self.tasksMax && tasks[name] == nil {
            tasks[name] = OfTask()
        }
        for name in plugins where self.plugins.count < Self.pluginsMax && self.plugins[name] == nil
        {
            self.plugins[name] = OfPlugin()
        }
    }

    // MARK: Runs

    /// Counts the start of a handler.
    ///
    /// - Parameter delay: from the time when the request could start to now, nanoseconds.
    package mutating func started(plugin: String, delay: UInt64) {
        changePlugin(plugin) { counts in
            counts.active += 1
            counts.startDelays.record(delay)
        }
    }

    /// Counts the end of a handler that ``started(plugin:delay:)`` counted.
    ///
    /// - Parameters:
    ///   - duration: since its start, nanoseconds.
    ///   - cancelDuration: since it was cancelled, nanoseconds; `nil` if it was not.
    ///   - processorTime: what it used, nanoseconds.
    package mutating func stopped(
        plugin: String,
        duration: UInt64,
        cancelDuration: UInt64?,
        processorTime: UInt64
    ) {
        changePlugin(plugin) { counts in
            counts.active -= counts.active > 0 ? 1 : 0
            counts.durations.record(duration)
            if let cancelDuration { counts.cancelDurations.record(cancelDuration) }
            counts.processorTime = counts.processorTime.addingClamped(processorTime)
        }
    }

    /// Counts the outcome of a run, also of one whose handler never started.
    ///
    /// - Parameter task: the identifier in the manifest, for members of a family its pattern.
    package mutating func ended(_ record: RunRecord, task: String) {
        guard let outcome = record.outcome else { return }
        let kind = OutcomeClass(outcome)
        changeTask(task) { counts in
            counts.outcomes[kind.index] += 1
            counts.lastEnd = record.endedAt ?? counts.lastEnd
            if kind == .succeeded {
                counts.consecutiveFailures = 0
                counts.lastSuccess = record.endedAt ?? counts.lastSuccess
            } else if kind.isFailure {
                counts.consecutiveFailures += 1
            }
        }
        guard case .killed(let reason) = outcome else { return }
        changePlugin(record.plugin) { $0.kills[reason.label, default: 0] += 1 }
    }

    /// Counts a worker that has loaded its plugin.
    ///
    /// - Parameter duration: since its start, nanoseconds.
    package mutating func workerStarted(plugin: String, after duration: UInt64) {
        workerStarts.record(duration)
        changePlugin(plugin) { $0.workerStarts += 1 }
    }

    private mutating func changeTask(_ name: String, _ change: (inout OfTask) -> Void) {
        if tasks[name] == nil, tasks.count >= Self.tasksMax {
            folded += 1
            change(&tasks[Self.otherName, default: OfTask()])
        } else {
            change(&tasks[name, default: OfTask()])
        }
    }

    private mutating func changePlugin(_ name: String, _ change: (inout OfPlugin) -> Void) {
        if plugins[name] == nil, plugins.count >= Self.pluginsMax {
            folded += 1
            change(&plugins[Self.otherName, default: OfPlugin()])
        } else {
            change(&plugins[name, default: OfPlugin()])
        }
    }
}
