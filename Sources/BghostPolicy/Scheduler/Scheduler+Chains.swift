// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Chains: requests that follow from the success of a run.
///
/// They are stored in the transaction of its end, so a crash leaves either both or neither. The definition
/// under which it ran decides what follows.
extension Scheduler {
    /// A request that follows from a run, until it is in the index.
    struct Follower: Sendable {
        let request: Request
        let entry: Int
        let replaced: RunID?
    }

    /// Makes the requests that follow from a run; pass them to ``enqueue(_:after:now:_:)`` when the change of
    /// its end is decided.
    ///
    /// - Returns: none if the run did not succeed.
    mutating func followers(
        of run: RunningTable.Running,
        _ finish: RunFinish,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) -> [Follower] {
        guard finish.outcome == .succeeded else { return [] }
        var followers: [Follower] = []
        var result: Result<String, SubmitError>?
        for follower in catalog.tasks[run.task].then {
            do throws(SubmitError) {
                var parameters = "{}"
                if follower.takesResult {
                    let known = result ?? Self.parameters(result: finish.record.result)
                    // Only the first of them reads the result.
                    result = known
                    parameters = try known.get()
                }
                if let made = try make(follower, parameters, after: finish.record, now: now) {
                    followers.append(made)
                }
            } catch {
                let why = error.message
                effects.append(.log(.notFollowed(finish.record, by: follower.task, why: why)))
            }
        }
        return followers
    }

    /// - Returns: `nil` if a pending request of the follower takes precedence.
    private mutating func make(
        _ follower: TaskFollower,
        _ parameters: String,
        after record: RunRecord,
        now: Moment
    ) throws(SubmitError) -> Follower? {
        // A reload may have taken it away while the run was under way.
        guard let task = catalog.task(for: follower.task) else {
            throw SubmitError(.notPermitted, notPermitted(follower.task))
        }
        guard catalog.tasks[task].kind != .urlSession else {
            throw SubmitError(
                .notPermitted,
                "\(follower.task) handles ended transfers, so only bghost submits it"
            )
        }
        if follower.onConflict == .keep, hasPending(follower.task) { return nil }
        try checkAppended(follower.onConflict, of: follower.task)
        var request = Request(
            id: nextID(now),
            task: follower.task,
            parameters: parameters,
            submittedAt: now.unix,
            tolerance: min(catalog.tasks[task].toleranceNanoseconds, Coalescing.toleranceMax),
            priority: catalog.tasks[task].priority,
            submitter: .predecessor(record.id),
            trace: record.trace?.context
        )
        let entry = entry(for: follower.task, task: task)
        request.isAppended = appends(follower.onConflict, entry)
        let pending = request.isAppended ? nil : pendingIndex.entries[entry].pending
        if follower.onConflict == .update, let pending {
            request.keepDates(of: pending)
        } else {
            chooseStart(&request, task: task, entry: entry, now: now)
        }
        return Follower(request: request, entry: entry, replaced: pending?.id)
    }

    /// The parameters of a request that takes the result of a run: an object as it is, any other value as
    /// `result` of an object.
    static func parameters(result: String) -> Result<String, SubmitError> {
        if result.isEmpty { return .success("{}") }
        // The size comes first: a longer text costs more to read.
        var size = result.utf8.count
        if size <= parametersBytesMax {
            if JSONText.isObject(result) { return .success(result) }
            let text = "{\"result\":\(result)}"
            size = text.utf8.count
            if size <= parametersBytesMax {
                // As a value of the object it is a level deeper, which may be too deep. With other members, the
                // result was no value.
                guard let node = try? JSONReader.parse(Array(text.utf8), dialect: .strict),
                    node.object?.count == 1
                else {
                    return .failure(
                        SubmitError(
                            .badParameters,
                            "the result of the run is not JSON, or has too many levels"
                        )
                    )
                }
                return .success(text)
            }
        }
        return .failure(
            SubmitError(
                .payloadTooLarge,
                "the result of the run makes parameters of \(size) bytes; at most"
                    + " \(parametersBytesMax) are taken"
            )
        )
    }

    /// Adds the requests that follow from a run to the index.
    mutating func enqueue(
        _ followers: [Follower],
        after record: RunRecord,
        now: Moment,
        _ effects: inout [SchedulerEffect]
    ) {
        for follower in followers {
            enqueue(follower.request, entry: follower.entry, now: now, &effects)
            effects.append(.log(.followed(follower.request, record)))
        }
    }
}

extension Scheduler.Follower {
    /// The change to store together with the end of the run.
    var change: StoreChange { .accepted(request, replacing: replaced) }
}
