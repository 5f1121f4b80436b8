// SPDX-License-Identifier: Apache-2.0

/// The maximum number of pending requests of a plugin, by kind; the defaults are Apple's.
///
/// Only requests that plugins submit count, one for each identifier. Retries, manual runs, and
/// requests of the operator or the manifest do not count.
package struct PendingLimits: Equatable, Sendable {
    package var refresh: Int
    package var processing: Int

    package init(refresh: Int = 1, processing: Int = 10) {
        self.refresh = refresh
        self.processing = processing
    }

    /// More actions than people can take; the limit stops a program that submits too many.
    private static let notificationActions = 64

    package subscript(kind: TaskKind) -> Int {
        switch kind {
        case .refresh: refresh
        case .processing: processing
        case .notificationAction: Self.notificationActions
        // Plugins cannot submit such a request.
        case .urlSession: .max
        }
    }
}
