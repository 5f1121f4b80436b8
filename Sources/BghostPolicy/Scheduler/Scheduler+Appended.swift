// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Requests that are appended to those of their task.
extension Scheduler {
    /// Whether a submission is appended: something of its task waits, runs or is being stored.
    func appends(_ conflict: ConflictPolicy, _ entry: Int) -> Bool {
        conflict == .append && (storing[entry] != nil || !pendingIndex.entries.isIdle(entry))
    }

    /// Limits the appended requests of one task, from all submitters.
    func checkAppended(
        _ conflict: ConflictPolicy,
        of identifier: String
    ) throws(SubmitError) {
        guard conflict == .append, let entry = pendingIndex.entry(of: identifier) else { return }
        let waiting = pendingIndex.entries.extras(entry)?.appended.count ?? 0
        let count = waiting + (storing[entry]?.appended ?? 0)
        guard count >= PendingRequestIndex.appendedMax else { return }
        throw SubmitError(
            .tooManyPendingTaskRequests,
            "\(identifier) has \(count) appended requests, the most that a task may have; wait for"
                + " some of them, or withdraw them: `bghost cancel \(identifier)`"
        )
    }

    /// The gate of an appended request: everything of its task before it has ended.
    func appendedGate(_ request: Request, _ entry: Int, now: Moment) -> Gate {
        var ahead = pendingIndex.entries.predecessors(of: request, entry, now: now.unix)
        // A later request of its task may be more urgent.
        if let first = pendingIndex.first(of: entry, now: now.unix)?.id, first != request.id,
            !ahead.contains(first)
        {
            ahead.append(first)
        }
        let runs = running.all.map(\.running).filter { $0.entry == entry }
        let isOpen = ahead.isEmpty && runs.isEmpty
        let count = CountText.of(ahead.count, "request goes", "requests go")
        var parts = runs.isEmpty ? [] : ["in progress: \(names(of: runs))"]
        if let first = ahead.first { parts.append("\(count) first: \(first)") }
        if ahead.count > 1 { parts[parts.count - 1] += " and others" }
        return Gate(
            .predecessor,
            isOpen: isOpen,
            now: isOpen ? "none goes first" : parts.joined(separator: "; "),
            wanted: "the end of all requests of its task before it, since it was appended",
            since: runs.map(\.begunAt).min(),
            remedy: isOpen
                ? ""
                : runs.first.map { "`bghost stop \($0.run)` asks that run to stop" }
                    ?? "`bghost why \(request.task)` shows what the first one waits for",
            condition: isOpen ? "" : "the requests before it had ended",
            ids: (runs.map(\.run) + ahead).prefix(Gate.idsMax).map(\.self)
        )
    }
}
