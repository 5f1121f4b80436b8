// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import BghostPlugin
internal import BghostPolicy
internal import BghostWire
internal import CBghost

/// The scheduler calls of handlers.
extension Engine {
    /// Submits a request of the plugin.
    ///
    /// - Parameters:
    ///   - kind: 0, or a `BG_KIND_*`.
    ///   - earliest: Unix milliseconds; 0 means none.
    ///   - needs: `BG_NEEDS_*`.
    mutating func submit(
        _ identifier: String,
        kind: UInt32,
        parameters: String,
        earliest: Int64,
        needs: UInt32
    ) -> Int32 {
        guard subject.maySubmit(identifier, scheduler.catalog) else { return BG_E_PERM }
        guard kind <= 2, earliest >= 0, earliest <= Int64.max / 1_000_000,
            let options = SubmissionOptions(needs: needs)
        else { return BG_E_ARG }
        do throws(SubmitError) {
            try submit(
                Submission(
                    task: identifier,
                    kind: kind == 0 ? nil : kind == 1 ? .refresh : .processing,
                    parameters: parameters.isEmpty ? "{}" : parameters,
                    earliestBegin: earliest == 0 ? nil : earliest * 1_000_000,
                    onConflict: options.onConflict,
                    requirements: options.requirements
                ),
                startsNow: options.startsNow
            )
            return BG_OK
        } catch {
            switch error.code {
            case .wrongKind: return BG_E_KIND
            case .notPermitted: return BG_E_PERM
            case .tooManyPendingTaskRequests, .payloadTooLarge: return BG_E_LIMIT
            case .badParameters, .pastLatestBegin, .unfitParameters: return BG_E_ARG
            case .immediateRunIneligible: return BG_E_NOT_NOW
            case .unavailable, .storeFailed: return BG_E_FAILED
            }
        }
    }

    /// Submits a request that may have to start at once, as the daemon does.
    ///
    /// - Returns: `nil` if the pending request stays instead.
    @discardableResult
    mutating func submit(
        _ submission: Submission,
        startsNow: Bool
    ) throws(SubmitError) -> RunID? {
        guard startsNow else { return try submit(submission) }
        var submission = submission
        submission.tolerance = 0
        let task = submission.task
        guard scheduler.pendingOrAppended(task) == nil else {
            throw SubmitError(
                .immediateRunIneligible,
                "\(task) cannot start at once: another request of it is pending"
            )
        }
        guard let id = try submit(submission) else { return nil }
        guard scheduler.waits(id, of: task) else { return id }
        let request = scheduler.requests(of: task).first { $0.id == id }
        let gates = request.map { scheduler.gates(of: $0, now: now) } ?? []
        // It waits, as the scheduler has just said.
        _ = withdraw(task)
        let closed = gates.first { !$0.isOpen }.map { "\($0.kind.rawValue): \($0.now)" }
        throw SubmitError(
            .immediateRunIneligible,
            "\(task) cannot start at once: \(closed ?? "other requests start first")"
        )
    }

    /// Saves the checkpoint of a run's request; no bytes delete it.
    mutating func saveCheckpoint(_ bytes: [UInt8], by run: UInt64) -> Int32 {
        guard let place = runs[run]?.place else { return BG_E_STALE }
        checkpoints[history[place].record.request] = bytes.isEmpty ? nil : bytes
        return BG_OK
    }

    /// The checkpoint of a run's request.
    func loadCheckpoint(of run: UInt64) -> HostAnswer {
        guard let place = runs[run]?.place else { return HostAnswer(status: BG_E_STALE) }
        guard let bytes = checkpoints[history[place].record.request] else {
            return HostAnswer(status: BG_E_ABSENT)
        }
        return HostAnswer(status: BG_OK, body: .checkpoint(bytes))
    }

    mutating func cancelPending(_ identifier: String) -> Int32 {
        guard subject.maySubmit(identifier, scheduler.catalog) else { return BG_E_PERM }
        guard scheduler.catalog.isSubmittedByPlugins(identifier) else { return BG_E_ABSENT }
        return withdraw(identifier) ? BG_OK : BG_E_ABSENT
    }

    mutating func cancelAllPending() {
        for (request, _) in scheduler.pending(ofPlugin: subject.plugin) {
            // The request is pending, as just read.
            _ = withdraw(request.task)
        }
    }

    /// The situation of the plugin, and of one of its runs if that is in progress.
    func situation(of run: UInt64) -> Situation {
        let status = scheduler.backgroundRefreshStatus(ofPlugin: subject.plugin)
        var situation = Situation(refresh: status.code, reasons: status.reasons)
        if let missed = runs[run].flatMap({ scheduler.missed(by: $0.handle) }) {
            situation.missedCount = UInt64(max(0, missed.count))
            situation.missedFromUnixMilliseconds = missed.from / 1_000_000
        }
        return situation
    }

    func pendingOfPlugin() -> [PendingEntry] {
        scheduler.pending(ofPlugin: subject.plugin).map { request, kind in
            PendingEntry(
                task: request.task,
                kind: UInt32(kind == .refresh ? BG_KIND_REFRESH : BG_KIND_PROCESSING),
                earliestUnixMilliseconds: (request.earliestBegin ?? 0) / 1_000_000,
                needs: request.requirements.needs
            )
        }
    }
}
