// SPDX-License-Identifier: Apache-2.0

extension RequestBook {
    /// An identifier that has been used, and what is known of it.
    package struct Entry: Sendable {
        package let identifier: String
        /// The index of its definition in the manifest.
        package let definition: Int
        /// Those that share the slots with others: its plugin.
        package let group: Int
        /// Those whose pending requests are counted together: its plugin's tasks of one kind.
        package let quota: Int
        package let overlap: Overlap
        package internal(set) var running = 0
        /// Until when nothing of it begins but what is simulated, Unix nanoseconds.
        package internal(set) var hold: Int64?

        var waiting: RequestPlace?
        /// Requests that have had a run and get another.
        var retries: [RequestPlace] = []
        /// Simulated requests, oldest first.
        var simulated = Queue<RequestPlace>()
        /// The rank under which this entry stands in its group's ready heap.
        ///
        /// Others of it there are stale.
        var ticket: UInt64?
        /// The date for which this entry waits.
        ///
        /// Others of it in the heap are stale.
        var alarm: Alarm?
        var alarms: UInt32 = 0

        /// The one pending request.
        package var pending: Request? { waiting?.request }

        /// Every request that waits, in the order in which they would begin now.
        package var requests: [Request] {
            simulated.all.map(\.request)
                + (retries + (waiting.map { [$0] } ?? [])).sorted { $0.rank < $1.rank }
                .map(\.request)
        }

        /// Whether a run of it may begin beside those that are under way.
        var hasRoom: Bool { running == 0 || overlap == .allow }

        func place(of id: RunID) -> RequestPlace? {
            if let waiting, waiting.request.id == id { return waiting }
            return retries.first { $0.request.id == id }
                ?? simulated.all.first { $0.request.id == id }
        }

        /// Whether its pending request counts towards the quota: one that somebody submitted.
        package var countsInQuota: Bool {
            waiting.map { $0.request.submitter != .manifest } ?? false
        }

        init(identifier: String, definition: Int, group: Int, quota: Int, overlap: Overlap) {
            self.identifier = identifier
            self.definition = definition
            self.group = group
            self.quota = quota
            self.overlap = overlap
        }

        /// What would begin next if nothing stood in its way: simulated requests, and then the one
        /// of those whose date has come that waits the longest for its priority.
        ///
        /// A missed request is one of them, so that it comes up and can be closed.
        func candidate(now: Int64) -> RequestPlace? {
            if let simulated = simulated.first { return simulated }
            var best: RequestPlace?
            for place in retries where isUp(place, now) && place.rank < best?.rank ?? .max {
                best = place
            }
            if let waiting, isUp(waiting, now), waiting.rank < best?.rank ?? .max { best = waiting }
            return best
        }

        private func isUp(_ place: RequestPlace, _ now: Int64) -> Bool {
            place.due(hold: hold) <= now || place.isMissed(now: now)
        }

        /// The next date on which something of this entry changes by itself.
        func nextDate(now: Int64) -> Int64? {
            var next: Int64?
            if let waiting { next = waiting.nextDate(hold: hold, now: now) }
            for place in retries {
                guard let date = place.nextDate(hold: hold, now: now) else { continue }
                next = min(next ?? date, date)
            }
            return next
        }

        /// Removes a request that is not the pending one.
        mutating func remove(_ place: RequestPlace) {
            if place.request.isSimulated {
                simulated.removeFirst()
            } else {
                retries.removeAll { $0.request.id == place.request.id }
            }
        }
    }

    struct Alarm: Sendable {
        let token: UInt64
        let date: UInt64
    }
}
