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

    package subscript(kind: TaskKind) -> Int {
        switch kind {
        case .refresh: refresh
        case .processing: processing
        }
    }
}
