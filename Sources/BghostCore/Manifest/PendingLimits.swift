// SPDX-License-Identifier: Apache-2.0

/// How many requests of each kind may be pending for a plugin; the defaults are Apple's.
///
/// What counts is what handlers and operators submit, one for each identifier. Repetitions, what
/// `trigger` makes and what the manifest submits itself do not count.
package struct PendingLimits: Equatable, Sendable {
    package var refresh: Int
    package var processing: Int

    package init(refresh: Int = 1, processing: Int = 10) {
        self.refresh = refresh
        self.processing = processing
    }

    /// People do not answer faster than that; a program that does is held up.
    private static let notificationActions = 64

    package subscript(kind: TaskKind) -> Int {
        switch kind {
        case .refresh: refresh
        case .processing: processing
        case .notificationAction: Self.notificationActions
        // Nobody submits one.
        case .urlSession: .max
        }
    }
}
