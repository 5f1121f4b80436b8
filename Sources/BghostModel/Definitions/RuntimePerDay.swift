// SPDX-License-Identifier: Apache-2.0

/// The maximum total runtime within any 24 hours, by kind; `nil` is no limit.
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
        // Ended transfers are always reported, even if the runtime is used up.
        case .urlSession: nil
        }
    }
}
