// SPDX-License-Identifier: Apache-2.0

/// The total runtime of a plugin's runs of one kind that ended within one minute.
package struct RuntimeUse: Equatable, Codable, Sendable {
    package var plugin: String
    package var kind: TaskKind
    /// The number of the minute since 1970.
    package var minute: Int64
    package var nanoseconds: Int64

    package init(plugin: String, kind: TaskKind, minute: Int64, nanoseconds: Int64) {
        self.plugin = plugin
        self.kind = kind
        self.minute = minute
        self.nanoseconds = nanoseconds
    }

    /// The number of minutes for which an entry counts: a day, and the minute itself.
    package static let minutesKept: Int64 = 24 * 60 + 1
}
