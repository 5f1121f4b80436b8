// SPDX-License-Identifier: Apache-2.0

package import BghostMetrics
package import BghostModel
package import BghostPolicy
package import BghostStore

/// Accepts submissions: checks them, stores their requests, and then passes these to the scheduler.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. A submission costs O(log n)
/// in the pending requests.
package final class RequestIntake {
    /// The pending request of a task after a submission.
    package struct Accepted {
        package var request: Request
        /// Whether an earlier request takes precedence; the submission is then dropped.
        package var isEarlier = false
    }

    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    /// Checks parameters against schemas.
    package let parameters: ParameterChecks
    /// What became of submissions since the start.
    package private(set) var counts = SubmissionCounts()

    package init(_ dispatcher: Dispatcher, _ commits: CommitQueue) {
        self.dispatcher = dispatcher
        self.commits = commits
        parameters = ParameterChecks(dispatcher)
    }

    /// Accepts a submission, or returns the pending request that takes precedence.
    ///
    /// It returns when the request is as durable as the store makes it.
    package nonisolated(nonsending) func submit(
        _ submission: Submission,
        isManual: Bool
    ) async throws(SubmitError) -> Accepted {
        do throws(SubmitError) {
            try await parameters.require(submission)
        } catch {
            counts.add(error.code.refusal)
            throw error
        }
        while true {
            if let request = try await accept(submission, isManual: isManual) {
                return Accepted(request: request)
            }
            if let other = dispatcher.scheduler.pendingOrAppended(submission.task) {
                return Accepted(request: other, isEarlier: true)
            }
            // The other request is still being stored, which may fail. Wait for its result and try again.
            await commits.waitUntilCommitted()
        }
    }

    /// Stores a request and passes it to the scheduler.
    ///
    /// - Returns: `nil` if another request of the task takes precedence.
    private nonisolated(nonsending) func accept(
        _ submission: Submission,
        isManual: Bool
    ) async throws(SubmitError) -> Request? {
        let result: Result<Request?, SubmitError> = await withCheckedContinuation { continuation in
            // Check and store without an `await` in between; otherwise other calls could pass the
            // same checks.
            do throws(SubmitError) {
                guard let accepted = try check(submission, isManual: isManual) else {
                    return continuation.resume(returning: .success(nil))
                }
                store(accepted, isVerb: true) { stored in
                    continuation.resume(
                        returning: stored.map { accepted.request }.mapError { error in
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

    /// Checks a submission and creates its request; pass it to ``store(_:completion:)``.
    ///
    /// - Returns: `nil` if another request of the task takes precedence.
    package func check(
        _ submission: Submission,
        isManual: Bool = false,
        by submitter: Submitter = .operator
    ) throws(SubmitError) -> AcceptedSubmission? {
        do throws(SubmitError) {
            return try dispatcher.decide { scheduler, now, _ throws(SubmitError) in
                try scheduler.accept(submission, isManual: isManual, by: submitter, now: now)
            }
        } catch {
            counts.add(error.code.refusal)
            throw error
        }
    }

    /// Checks the parameters of a handler's submission against the schemas that are known now.
    ///
    /// - Parameter steps: the steps that this took are added.
    package func checkParameters(
        of submission: Submission,
        steps: inout Int
    ) throws(SubmitError) {
        do throws(SubmitError) {
            try parameters.check(submission, steps: &steps)
        } catch {
            counts.add(error.code.refusal)
            throw error
        }
    }

    /// Stores a request, passes it to the scheduler, and then calls the completion.
    ///
    /// - Parameters:
    ///   - isVerb: whether the verb under way asks for it; its row of the audit is then in the
    ///     transaction. Others may store requests of their own in the task of a verb.
    ///   - onFailure: `.retry` for a request that no caller would submit again, because it follows from
    ///     what has happened.
    package func store(
        _ accepted: AcceptedSubmission,
        isVerb: Bool = false,
        onFailure: CommitFailurePolicy = .refuse,
        completion: @escaping (Result<Void, StoreError>) -> Void = { _ in }
    ) {
        if let conflict = accepted.posted {
            return post(accepted, conflict, isVerb: isVerb, completion: completion)
        }
        let changes = isVerb ? commits.audited([accepted.change]) : [accepted.change]
        let then: CommitQueue.Completion = { [self] result in
            let isStored = if case .success = result { true } else { false }
            if isStored { counts.addStored() } else { counts.add(.storeFailed) }
            dispatcher.decide { scheduler, now, effects in
                scheduler.finishSubmission(accepted, isStored: isStored, now: now, &effects)
            }
            completion(result)
        }
        switch onFailure {
        case .refuse: commits.commitOrRefuse(changes, then: then)
        case .retry: commits.commit(changes, then: then)
        }
    }

    /// Gives a request to the fleet, whose owner accepts it.
    private func post(
        _ accepted: AcceptedSubmission,
        _ conflict: ConflictPolicy,
        isVerb: Bool,
        completion: @escaping (Result<Void, StoreError>) -> Void
    ) {
        // Without the request itself, which is not in this host's own store.
        let audit = isVerb ? Array(commits.audited([accepted.change]).dropFirst()) : []
        guard let fleet = commits.fleet else {
            counts.add(.storeFailed)
            return completion(.failure(StoreError("this host does not take part in the fleet now")))
        }
        fleet.post(accepted.request, conflict) { [self] result in
            if case .success = result {
                counts.addStored()
                if !audit.isEmpty { commits.commit(audit) }
            } else {
                counts.add(.storeFailed)
            }
            completion(result)
        }
    }
}

extension SubmitErrorCode {
    /// The value of the label `code`.
    var refusal: SubmissionCounts.Refusal {
        switch self {
        case .unavailable: .unavailable
        case .tooManyPendingTaskRequests: .tooManyPending
        case .notPermitted: .notPermitted
        case .immediateRunIneligible: .ineligible
        case .payloadTooLarge: .payloadTooLarge
        case .badParameters: .badParameters
        case .storeFailed: .storeFailed
        case .pastLatestBegin: .pastLatestBegin
        case .wrongKind: .wrongKind
        case .unfitParameters: .unfitParameters
        }
    }
}
