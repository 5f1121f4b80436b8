// SPDX-License-Identifier: Apache-2.0

/// The retry policy: decides what happens to a request after a run that did not succeed.
///
/// It limits two counts separately. A handler that fails, or that does not stop in time, uses up
/// `attemptsMax`. A worker that dies uses up `lossesMax`, so that the daemon detects a request that kills its
/// workers. A run that was interrupted because the daemon stopped or a requirement was no longer met uses up
/// neither, and is always repeated. If a run exceeded its memory, or its handler reported a permanent
/// failure, the request is dead at once, or ends with `Backoff.none`.
package struct RetryPolicy: Equatable, Sendable {
    package enum Backoff: Equatable, Sendable {
        /// Apple's rule: a failed request ends unless its handler submits it again.
        case none
        /// A random delay below a bound: `base`, doubled with each failure, at most `cap`.
        case exponential(base: Duration, cap: Duration)
    }

    package var backoff: Backoff
    /// The number of failures after which the request is dead, 1 or more.
    package var attemptsMax: Int
    /// The number of lost workers after which the request is dead, 1 or more.
    package var lossesMax: Int

    package init(backoff: Backoff, attemptsMax: Int = 5, lossesMax: Int = 3) {
        self.backoff = backoff
        self.attemptsMax = max(1, attemptsMax)
        self.lossesMax = max(1, lossesMax)
    }

    /// The default policy for a kind of task.
    package init(kind: TaskKind) {
        switch kind {
        case .refresh: self.init(backoff: .none)
        case .processing:
            self.init(backoff: .exponential(base: .seconds(30), cap: .seconds(5 * 3600)))
        case .notificationAction:
            // The action of the user happens only once, so no later submission would replace the request.
            self.init(
                backoff: .exponential(base: .seconds(5), cap: .seconds(600)),
                attemptsMax: 8,
                lossesMax: 5
            )
        // The daemon repeats the run until the handler succeeds or no ended transfer is left to report.
        case .urlSession:
            self.init(
                backoff: .exponential(base: .seconds(30), cap: .seconds(3600)),
                attemptsMax: .max,
                lossesMax: .max
            )
        }
    }
}
