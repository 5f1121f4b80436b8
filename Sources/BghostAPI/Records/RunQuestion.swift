// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// What a client asks about runs: a query whose times are texts, which the daemon reads in its zone.
package struct RunQuestion: Equatable, Sendable {
    /// Its `since` and `until` are not used.
    package var query: RunQuery
    package var since: String?
    package var until: String?
    /// Only runs of tasks that have this tag in the manifest in force.
    package var tag: String?

    package init(
        _ query: RunQuery,
        since: String? = nil,
        until: String? = nil,
        tag: String? = nil
    ) {
        self.query = query
        self.since = since
        self.until = until
        self.tag = tag
    }
}
