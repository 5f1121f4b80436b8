// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostDispatch
internal import BghostPolicy

/// The state of the daemon in one line, for the service manager.
///
/// Use it on the reactor's thread only. It costs O(n) in the plugins, and one page of the pending requests.
struct ServiceSummary {
    let dispatcher: Dispatcher
    let commits: CommitQueue
    let plugins: PluginTable
    let transfers: TransferCoordinator
    let runs: RunTable
    let alerts: AlertMonitor

    /// The most plugins that are named.
    private static let namesMax = 3

    var text: String {
        let scheduler = dispatcher.scheduler
        let running = CountText.of(runs.count, "run") + " in progress"
        guard !scheduler.isDraining else { return "stopping: \(running)" }
        let problems = problems
        return "\(running), \(pending)"
            + (problems.isEmpty ? "" : "; problems: " + problems.joined(separator: "; "))
    }

    /// A page has a bound; behind it the count is not exact.
    private var pending: String {
        let scheduler = dispatcher.scheduler
        var page = scheduler.waiting(.all, from: 0, keeping: 0)
        var count = page.count
        // Parked requests come last.
        if let next = page.next, next < 0 {
            page = scheduler.waiting(.all, from: next, keeping: 0)
            count += page.count
        }
        return (page.next == nil ? "" : "at least ") + CountText.of(count, "request") + " pending"
    }

    private var problems: [String] {
        var problems: [String] = []
        if let since = commits.status.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            problems.append("the store has been failing since \(moment)")
        }
        if let since = transfers.journalStatus?.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            problems.append("the journal of transfers has been failing since \(moment)")
        }
        if let problem = alerts.problem { problems.append(problem) }
        let unusable = plugins.all.filter { !$0.isRetired && $0.problem != nil }.map(\.name)
        if !unusable.isEmpty {
            let more = unusable.count - Self.namesMax
            problems.append(
                (unusable.count == 1 ? "plugin " : "plugins ")
                    + unusable.prefix(Self.namesMax).joined(separator: ", ")
                    + (more > 0 ? " and \(more) more" : "") + " cannot be used"
            )
        }
        let dead = commits.deadLetters.count
        if dead > 0 { problems.append(CountText.of(dead, "dead letter")) }
        return problems
    }
}
