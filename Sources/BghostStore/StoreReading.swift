// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Tells a caller whether the store could read what its questions needed.
///
/// A question itself returns an empty answer if it cannot be read, which looks like that of an empty store.
package enum StoreReading {
    /// The first failure of the questions of one caller.
    final class Outcome: Sendable {
        private let failure = Mutex<StoreError?>(nil)

        func note(_ error: StoreError) {
            failure.withLock { failure in
                if failure == nil { failure = error }
            }
        }

        var error: StoreError? { failure.withLock { $0 } }
    }

    /// That of the caller on this thread; `nil` if it does not want to know.
    @TaskLocal static var outcome: Outcome?

    /// Asks a store.
    ///
    /// - Parameter questions: asks on the caller's thread, and returns an answer.
    /// - Returns: the answer, or the first failure.
    package static func result<Answer>(_ questions: () -> Answer) -> Result<Answer, StoreError> {
        let outcome = Outcome()
        let answer = $outcome.withValue(outcome) { questions() }
        return outcome.error.map { .failure($0) } ?? .success(answer)
    }
}
