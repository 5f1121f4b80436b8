// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore

/// What a submission must pass besides being well formed.
extension Host {
    /// Refuses what could not begin in time, what is switched off, and what would be one too many.
    func admit(
        _ submission: Submission,
        definition: Int,
        isSimulated: Bool
    ) throws(SubmitError) {
        try checkSwitch(of: pluginOfDefinition[definition])
        if let latest = submission.latestBegin {
            let date = Timestamp.text(unixNanoseconds: latest)
            guard latest >= WallClock.now else {
                throw SubmitError(
                    .pastLatestBegin,
                    "the latest begin date \(date) is over; give one to come, or none"
                )
            }
            guard latest >= submission.earliestBegin ?? latest else {
                throw SubmitError(
                    .pastLatestBegin,
                    "the latest begin date \(date) comes before the earliest; exchange them"
                )
            }
        }
        if !isSimulated { try checkCeiling(submission.task, definition) }
    }

    // MARK: Ceilings

    /// Those whose pending requests are counted together: a plugin's tasks of one kind.
    func quota(of definition: Int) -> Int {
        let kind = configuration.manifest.tasks[definition].kind
        return pluginOfDefinition[definition].index * 2 + (kind == .refresh ? 0 : 1)
    }

    /// Looks after the replacement: who submits the same identifier again never has too many.
    ///
    /// Functions have no ceiling: they submit nothing.
    private func checkCeiling(_ task: String, _ definition: Int) throws(SubmitError) {
        let plugin = pluginOfDefinition[definition]
        guard case .plugin(let settings) = plugin.code else { return }
        let kind = configuration.manifest.tasks[definition].kind
        let most = settings.maxPending[kind]
        let quota = quota(of: definition)
        let own = book.entry(of: task)
        var others = book.submittedRequests(ofQuota: quota)
        if let own, book.entries[own].countsInQuota { others -= 1 }
        // What is on its way to the store is counted only where it may matter.
        if others < most, others + arriving.count >= most {
            others += arriving.keys.count { entry in
                entry != own && book.entries[entry].quota == quota
                    && !book.entries[entry].countsInQuota
            }
        }
        guard others >= most else { return }
        throw SubmitError(
            .tooManyPendingTaskRequests,
            "`\(plugin.name)` has \(others) pending requests of kind \(kind.rawValue) and may have"
                + " \(most); wait for one, withdraw one, or raise its `maxPending` in"
                + " \(configuration.manifestPath)"
        )
    }

    // MARK: Keeping what is pending

    /// Accepts a submission, or answers with the request that it gives way to.
    func take(
        _ submission: Submission,
        isSimulated: Bool
    ) async throws(SubmitError) -> PendingRequest {
        while true {
            if let request = try await accept(submission, isSimulated: isSimulated) {
                return describe(request)
            }
            if let entry = book.entry(of: submission.task), let other = book.entries[entry].pending
            {
                var kept = describe(other)
                kept.isKept = true
                return kept
            }
            // The other is on its way to the store, where it may fail yet. What is committed now is
            // answered after it.
            _ = await committed([])
        }
    }

    /// Whether a submission is dropped for a request of its task that is pending or about to be.
    func givesWay(_ submission: Submission) -> Bool {
        guard submission.onConflict == .keep, let entry = book.entry(of: submission.task) else {
            return false
        }
        return book.entries[entry].pending != nil || arriving[entry] != nil
    }

    /// Commits a transaction and waits until it is as durable as the store makes it.
    func committed(_ changes: [StoreChange]) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            commit(changes) { _, result in continuation.resume(returning: result) }
        }
    }
}
