// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension PendingRequestIndex {
    /// Moves the dates of an entry's retries by a step of the clock.
    ///
    /// - Parameter ofPending: whether to move the pending request too, because its date counts from an event.
    /// - Returns: the requests that moved.
    mutating func shiftRelativeDates(
        entry: Int,
        by step: Int64,
        ofPending: Bool,
        now: Int64
    ) -> [Request] {
        var moved: [Request] = []
        if entries.hasRetries(entry) {
            entries.changeExtras(entry) { extras in
                extras.retries.replace { place in
                    guard let request = place.request.moved(by: step) else { return nil }
                    moved.append(request)
                    let rank = RequestRank.moved(place.rank, of: request, now: now)
                    return RequestPlace(request: request, rank: rank)
                }
            }
        }
        if ofPending, let request = entries.pending(entry)?.moved(by: step) {
            let rank = RequestRank.moved(entries.rows[entry].rank, of: request, now: now)
            entries.setPending(request, rank: rank, of: entry)
            moved.append(request)
        }
        if !moved.isEmpty { enqueueIfReady(entry, now: now) }
        return moved
    }
}
