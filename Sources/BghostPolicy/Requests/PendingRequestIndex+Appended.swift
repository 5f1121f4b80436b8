// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Appended requests: each waits for the end of the requests of its identifier that were before it.
///
/// They are beside the one pending request, as retries are, so the request of a schedule goes on while they
/// wait. Only the first of them is looked at.
extension PendingRequestIndex {
    /// The most appended requests of an identifier.
    static let appendedMax = 1000

    /// Removes the appended requests of an entry and returns them.
    mutating func withdrawAppended(entry: Int) -> [Request] {
        let requests = entries.extras(entry)?.appended.all.map(\.request) ?? []
        guard !requests.isEmpty else { return [] }
        for request in requests { countAppended(request, -1, entry: entry) }
        entries.changeExtras(entry) { $0.appended = Queue() }
        dequeueIfEmpty(entry)
        noteIfIdle(entry)
        return requests
    }

    mutating func removeFirstAppended(_ entry: Int) {
        if let request = entries.extras(entry)?.appended.first?.request {
            countAppended(request, -1, entry: entry)
        }
        entries.changeExtras(entry) { $0.appended.removeFirst() }
    }

    /// Counts an appended request that comes or leaves, if a plugin submitted it.
    mutating func countAppended(_ request: Request, _ change: Int, entry: Int) {
        guard request.submitter.isPlugin else { return }
        let (group, quota) = (entries.kind(entry).group, entries.kind(entry).quota)
        addHeldBytes(change * request.heldBytes, ofGroup: group)
        while submitted.count <= quota { submitted.append(0) }
        submitted[quota] += change
    }
}

extension PendingRequestIndex.Entries {
    /// The pending request of an identifier, or else the first of its appended ones.
    func pendingOrAppended(_ number: Int) -> Request? {
        pending(number) ?? extras(number)?.appended.first?.request
    }

    /// The number of appended requests that plugins submitted.
    func appendedByPlugins(_ number: Int) -> Int {
        extras(number)?.appended.all.count { $0.request.submitter.isPlugin } ?? 0
    }

    /// The first appended request, if those before it have ended or it was missed.
    func appendedCandidate(
        _ number: Int,
        _ extras: PendingRequestIndex.Extras,
        now: Int64
    ) -> Candidate? {
        guard let head = extras.appended.first else { return nil }
        let isMissed = head.dates.isMissed(now: now)
        guard
            isMissed
                || rows[number].running == 0 && extras.retries.isEmpty
                    && head.dates.isDue(delayedUntil: extras.delayedUntil, now: now)
                    && !isBehindPending(head.request, number, now: now)
        else { return nil }
        return Candidate(source: .appended, rank: head.rank, isMissed: isMissed)
    }

    /// Whether an appended request waits for the pending one: it was submitted before, or is a due start of
    /// the schedule, which the queue does not hold up.
    func isBehindPending(_ request: Request, _ number: Int, now: Int64) -> Bool {
        guard let pending = pending(number) else { return false }
        guard pending.scheduledTime == nil else {
            return BeginDates(pending).due(delayedUntil: nil) <= now
        }
        return pending.id < request.id
    }

    /// The requests that an appended one waits for.
    func predecessors(of request: Request, _ number: Int, now: Int64) -> [RunID] {
        guard let extras = extras(number) else { return [] }
        let pending = isBehindPending(request, number, now: now) ? rows[number].pendingID : nil
        return extras.manual.all.map(\.request.id) + extras.retries.all.map(\.request.id)
            + (pending.map { [$0] } ?? [])
            + extras.appended.all.prefix { $0.request.id != request.id }.map(\.request.id)
    }
}
