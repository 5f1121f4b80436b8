// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostStore

/// Submissions, from the check to the store.
extension Host {
    /// Accepts a submission, or returns the pending request that takes precedence.
    func take(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> PendingRequest {
        while true {
            if let request = try await accept(submission, isSimulated: isSimulated) {
                return describe(request)
            }
            if let other = dispatcher.scheduler.pending(submission.task) {
                var kept = describe(other)
                kept.isKept = true
                return kept
            }
            // The other request is still being stored, which may fail. Wait for its result and try again.
            await settled()
        }
    }

    /// Returns when all earlier transactions have their result.
    private func settled() async {
        await withCheckedContinuation { continuation in
            // The transaction is empty, so its result is irrelevant.
            commitOrRefuse([]) { _, _ in continuation.resume() }
        }
    }

    /// Stores a request and passes it to the scheduler.
    ///
    /// It returns when the request is as durable as the store makes it.
    ///
    /// - Returns: `nil` if another request of the task takes precedence.
    private func accept(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> Request? {
        let result: Result<Request?, SubmitError> = await withCheckedContinuation { continuation in
            // Check and store without an `await` in between; otherwise other calls could pass the
            // same checks.
            do throws(SubmitError) {
                guard let arrival = try arrival(of: submission, isSimulated: isSimulated) else {
                    return continuation.resume(returning: .success(nil))
                }
                store(arrival) { stored in
                    continuation.resume(
                        returning: stored.map { arrival.request }.mapError { error in
                            SubmitError(
                                .storeFailed,
                                "the request could not be stored: \(error.message)"
                            )
                        }
                    )
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Checks a submission and creates its request, which the caller stores.
    func arrival(
        of submission: Submission,
        isSimulated: Bool = false,
        by submitter: Submitter = .operator
    ) throws(SubmitError) -> Arrival? {
        try decide { scheduler, now, _ throws(SubmitError) in
            try scheduler.accept(submission, isSimulated: isSimulated, by: submitter, now: now)
        }
    }

    /// Stores a request, passes it to the scheduler, and then calls the completion on the host's actor.
    func store(
        _ arrival: Arrival,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        commitOrRefuse([arrival.change]) { host, result in
            let isStored = if case .success = result { true } else { false }
            host.decide { scheduler, now, effects in
                scheduler.arrived(arrival, isStored: isStored, now: now, &effects)
            }
            completion(result)
        }
    }
}
