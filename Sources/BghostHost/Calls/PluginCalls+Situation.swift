// SPDX-License-Identifier: Apache-2.0

internal import BghostDispatch
internal import BghostModel
internal import BghostPolicy
internal import BghostWire

/// Answers to queries of handlers about their situation.
extension PluginCalls {
    func answerSituation(_ call: Call, _ executor: any RunExecutor, _ run: UInt64) {
        var missed: MissedStarts?
        if run != 0 {
            // The run may have ended while the call was being sent, which is valid.
            guard let known = runs.run(run), known.executor === executor else {
                return replies.send(
                    Reply(call: call.number, status: CallStatus.stale),
                    to: executor
                )
            }
            missed = dispatcher.scheduler.missed(by: known.handle)
        }
        let status = dispatcher.scheduler.backgroundRefreshStatus(ofPlugin: executor.plugin.index)
        let situation = Situation(
            refresh: status.code,
            reasons: status.reasons,
            missedCount: UInt64(max(0, missed?.count ?? 0)),
            missedFromUnixMilliseconds: (missed?.from ?? 0) / 1_000_000
        )
        replies.send(
            Reply(call: call.number, status: CallStatus.ok, body: .situation(situation)),
            to: executor
        )
    }
}
