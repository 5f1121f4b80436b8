// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// What a client asks about the log: a filter whose times are texts, which the daemon reads in its zone.
package struct LogQuestion: Equatable, Sendable {
    /// Its `since` and `until` are not used.
    package var filter: LogFilter
    package var since: String?
    package var until: String?
    /// Only lines before this place; `nil` begins with the newest line.
    package var before: LogPosition?
    package var limit: Int

    package init(
        _ filter: LogFilter = LogFilter(),
        since: String? = nil,
        until: String? = nil,
        before: LogPosition? = nil,
        limit: Int
    ) {
        self.filter = filter
        self.since = since
        self.until = until
        self.before = before
        self.limit = limit
    }
}
