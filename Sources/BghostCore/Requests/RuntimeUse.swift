// SPDX-License-Identifier: Apache-2.0

/// What the runs of one kind of a plugin's tasks that ended within one minute took together.
package struct RuntimeUse: Equatable, Codable, Sendable {
    package var plugin: String
    package var kind: TaskKind
    /// The minute, counted from 1970.
    package var minute: Int64
    package var nanoseconds: Int64

    package init(plugin: String, kind: TaskKind, minute: Int64, nanoseconds: Int64) {
        self.plugin = plugin
        self.kind = kind
        self.minute = minute
        self.nanoseconds = nanoseconds
    }

    /// For how many minutes it counts: those of a day, and the one that it is about.
    package static let minutesKept: Int64 = 24 * 60 + 1
}

/// The most that runs may take together within any 24 hours.
///
/// `nil` is no limit.
package struct RuntimePerDay: Equatable, Sendable {
    package var refresh: Duration?
    package var processing: Duration?

    package init(refresh: Duration? = nil, processing: Duration? = nil) {
        self.refresh = refresh
        self.processing = processing
    }

    package subscript(kind: TaskKind) -> Duration? {
        switch kind {
        case .refresh: refresh
        case .processing: processing
        case .notificationAction: nil
        // What has arrived is told, however long others took.
        case .urlSession: nil
        }
    }
}
