// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import BghostPolicy
internal import CBghost

/// The scheduler calls of handlers.
extension Engine {
    mutating func submit(_ call: SubmitCall) -> bg_status {
        guard subject.maySubmit(call.identifier, scheduler.catalog) else { return BG_E_PERM }
        guard call.kind <= 2, call.earliest >= 0, call.earliest <= Int64.max / 1_000_000,
            let requirements = RequirementSet(needs: call.needs)
        else { return BG_E_ARG }
        do throws(SubmitError) {
            try submit(
                Submission(
                    task: call.identifier,
                    kind: call.kind == 0 ? nil : call.kind == 1 ? .refresh : .processing,
                    parameters: call.parameters.isEmpty ? "{}" : call.parameters,
                    earliestBegin: call.earliest == 0 ? nil : call.earliest * 1_000_000,
                    requirements: requirements
                )
            )
            return BG_OK
        } catch {
            switch error.code {
            case .wrongKind: return BG_E_KIND
            case .notPermitted: return BG_E_PERM
            case .tooManyPendingTaskRequests, .payloadTooLarge: return BG_E_LIMIT
            case .badParameters, .pastLatestBegin: return BG_E_ARG
            case .unavailable, .immediateRunIneligible, .storeFailed: return BG_E_FAILED
            }
        }
    }

    /// The names of a run outside of the process, as the daemon gives them.
    func identity(of run: UInt64) -> (status: bg_status, identity: bg_run_identity) {
        var answer = bg_run_identity()
        guard let run = runs[run] else { return (BG_E_STALE, answer) }
        let record = history[run.place].record
        answer.epoch = record.epoch
        CText.copy(record.id.description, to: &answer.run_id)
        CText.copy(record.request.description, to: &answer.idempotency_key)
        return (BG_OK, answer)
    }

    mutating func cancelPending(_ identifier: String) -> bg_status {
        guard subject.maySubmit(identifier, scheduler.catalog) else { return BG_E_PERM }
        return withdraw(identifier) ? BG_OK : BG_E_ABSENT
    }

    mutating func cancelAllPending() {
        for (request, _) in scheduler.pending(ofPlugin: subject.plugin) {
            _ = withdraw(request.task)
        }
    }

    func refreshOfPlugin() -> bg_refresh {
        let status = scheduler.backgroundRefreshStatus(ofPlugin: subject.plugin)
        var refresh = bg_refresh()
        refresh.status = status.code
        refresh.reasons = status.reasons
        return refresh
    }

    func missed(by run: UInt64) -> (status: bg_status, missed: bg_missed) {
        var answer = bg_missed()
        guard let run = runs[run] else { return (BG_E_STALE, answer) }
        if let missed = scheduler.missed(by: run.handle) {
            answer.count = UInt64(max(0, missed.count))
            answer.from_unix_ms = missed.from / 1_000_000
        }
        return (BG_OK, answer)
    }

    func pendingOfPlugin() -> [bg_pending] {
        scheduler.pending(ofPlugin: subject.plugin).map { request, kind in
            var pending = bg_pending()
            pending.size = UInt32(MemoryLayout<bg_pending>.stride)
            pending.kind = UInt32(kind == .refresh ? BG_KIND_REFRESH : BG_KIND_PROCESSING)
            pending.needs = request.requirements.needs
            pending.earliest_unix_ms = (request.earliestBegin ?? 0) / 1_000_000
            // An identifier has at most 128 bytes, and the field has 136.
            CText.copy(request.task, to: &pending.task_id)
            return pending
        }
    }
}
