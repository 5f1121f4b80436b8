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

extension RefreshStatus {
    /// The `BG_REFRESH_*`.
    fileprivate var code: UInt32 {
        switch self {
        case .available: 1
        case .denied: 2
        case .restricted: 3
        }
    }

    /// The `BG_RESTRICTED_*`.
    fileprivate var reasons: UInt32 {
        guard case .restricted(let reasons) = self else { return 0 }
        return reasons.reduce(0) { $0 | $1.bit }
    }
}

extension RefreshStatus.Restriction {
    fileprivate var bit: UInt32 {
        switch self {
        case .onBattery: 1
        case .drain: 2
        case .maintenance: 4
        case .budget: 8
        case .pressure: 16
        }
    }
}
