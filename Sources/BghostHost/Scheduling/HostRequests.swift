// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostStore

/// Requests: from a submission to the store.
extension Host {
    /// Accepts a submission, or answers with the request that it gives way to.
    func take(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> PendingRequest {
        while true {
            if let request = try await accept(submission, isSimulated: isSimulated) {
                return describe(request)
            }
            if let other = scheduler.pending(submission.task) {
                var kept = describe(other)
                kept.isKept = true
                return kept
            }
            // The other is on its way to the store, where it may fail yet. What is committed now is
            // answered after it.
            _ = await committed([])
        }
    }

    /// Stores a request and takes it in.
    ///
    /// Answers once it is as durable as the store makes it.
    ///
    /// - Returns: `nil` if it gives way to another request of its task.
    private func accept(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> Request? {
        let result: Result<Request?, SubmitError> = await withCheckedContinuation { continuation in
            // The checks and the store are one step: an `await` between them gives the thread away,
            // and others would pass the same checks meanwhile.
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

    /// Checks a submission and makes its request, which is to be stored.
    func arrival(
        of submission: Submission,
        isSimulated: Bool = false,
        by submitter: Submitter = .operator
    ) throws(SubmitError) -> Arrival? {
        try decide { scheduler, now, _ throws(SubmitError) in
            try scheduler.accept(submission, isSimulated: isSimulated, by: submitter, now: now)
        }
    }

    /// Stores a request, takes it in once it is stored, and then says so on the host's executor.
    func store(
        _ arrival: Arrival,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        commit([arrival.change]) { host, result in
            let isStored = if case .success = result { true } else { false }
            host.decide { scheduler, now, effects in
                scheduler.arrived(arrival, isStored: isStored, now: now, &effects)
            }
            completion(result)
        }
    }
}
