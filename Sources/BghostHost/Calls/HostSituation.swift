// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostWire

/// How things stand, for handlers that ask.
extension Host {
    func answerSituation(_ call: Call, _ carrier: Carrier, _ run: UInt64) {
        var missed: MissedSlots?
        if run != 0 {
            // The run may have ended while the question was on its way, which is no fault.
            guard let index = runs.index(of: run), let known = runs[index],
                known.carrier === carrier
            else {
                return sendReply(
                    Reply(call: call.number, status: CallStatus.stale),
                    to: carrier
                )
            }
            missed = scheduler.missed(by: known.ticket)
        }
        let status = scheduler.backgroundRefreshStatus(ofPlugin: carrier.plugin.index)
        let situation = Situation(
            refresh: status.code,
            reasons: status.reasons,
            missedCount: UInt64(max(0, missed?.count ?? 0)),
            missedFromUnixMilliseconds: (missed?.from ?? 0) / 1_000_000
        )
        sendReply(
            Reply(call: call.number, status: CallStatus.ok, body: .situation(situation)),
            to: carrier
        )
    }
}
