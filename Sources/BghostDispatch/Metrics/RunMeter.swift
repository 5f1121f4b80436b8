// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostMetrics
package import BghostModel
internal import BghostPolicy

/// Counts the runs of the daemon for its metrics.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. A run costs two lookups by name.
package final class RunMeter {
    private var statistics = RunStatistics()
    private let dispatcher: Dispatcher

    package init(_ dispatcher: Dispatcher) { self.dispatcher = dispatcher }

    /// The counts, with 0 for each task and plugin of the manifest that has none.
    package func counts() -> RunStatistics {
        let catalog = dispatcher.scheduler.catalog
        var counts = statistics
        counts.declare(
            tasks: catalog.currentTasks.lazy.map { catalog.tasks[$0].identifier.description },
            plugins: Set(catalog.currentTasks.map { catalog.plugin(ofTask: $0).name }).sorted()
        )
        return counts
    }

    /// Counts the start of a handler.
    ///
    /// - Parameter delay: since its request could start, nanoseconds.
    package func started(plugin: String, delay: UInt64) {
        statistics.started(plugin: plugin, delay: delay)
    }

    /// Counts the end of a handler that has started.
    ///
    /// - Parameters:
    ///   - duration: since its start, nanoseconds.
    ///   - cancelDuration: since it was cancelled, nanoseconds; `nil` if it was not.
    package func stopped(_ record: RunRecord, duration: UInt64, cancelDuration: UInt64?) {
        statistics.stopped(
            plugin: record.plugin,
            duration: duration,
            cancelDuration: cancelDuration,
            processorTime: record.usage.cpu?.clampedNanoseconds ?? 0
        )
    }

    /// Counts the outcome of a run, also of one that never started.
    package func ended(_ record: RunRecord) { statistics.ended(record, task: name(of: record)) }

    /// Counts a worker that has loaded its plugin.
    ///
    /// - Parameter duration: since its start, nanoseconds.
    package func workerStarted(plugin: String, after duration: UInt64) {
        statistics.workerStarted(plugin: plugin, after: duration)
    }

    /// The identifier under which a run is counted: that of its task in the manifest.
    private func name(of record: RunRecord) -> String {
        let catalog = dispatcher.scheduler.catalog
        guard let task = catalog.task(for: record.task) else { return RunStatistics.otherName }
        return catalog.tasks[task].identifier.description
    }
}
